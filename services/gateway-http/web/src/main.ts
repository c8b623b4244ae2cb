import { ChatPage } from "./chat-page.js";
import { GatewayApi } from "./gateway-api.js";

const api = new GatewayApi();
// The front page without a good cookie says how to sign in.
api.onSignedOut = () => location.reload();
void new ChatPage(api).start();
