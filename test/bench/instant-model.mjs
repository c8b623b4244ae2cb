// A model that answers at once, as a process of its own: what is measured beside it is Troupe's own time.
import { createServer } from "node:http";

const head = { id: "c", object: "chat.completion.chunk", created: 0, model: "instant" };
const event = (delta, finish = null) =>
  `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const ANSWER = `${event({ role: "assistant", content: "" })}${event({ content: "All " })}${event({ content: "is well." })}${event({}, "stop")}data: [DONE]\n\n`;

const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(request.url?.endsWith("/models") ? "{}" : ANSWER);
  });
});
server.listen(0, "127.0.0.1", () => process.send?.({ url: `http://127.0.0.1:${server.address().port}/v1` }));
process.on("disconnect", () => process.exit(0));
