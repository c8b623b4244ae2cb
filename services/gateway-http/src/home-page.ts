/**
 * The front page of whoever has not signed in: how to, and how to talk to the API under this host. It holds no data, so
 * anybody may see it.
 *
 * @param refused whether a link with a wrong token led here
 */
export function homePage(host: string, refused = false): string {
  return PAGE.replace("<!-- refused -->", refused ? REFUSED : "").replaceAll("localhost:7070", host);
}

const REFUSED = `<p class="refused" role="alert">The token in this link is not, or no longer, the right one.</p>`;

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Troupe</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/theme.css">
<script type="module" src="/assets/sign-in.js"></script>
</head>
<body class="plain">
<main>
<p class="brand">Troupe</p>
<h1>You are not signed in</h1>
<!-- refused -->
<p>This is the HTTP gateway of a Troupe installation: it takes messages for long-lived AI agents and gives their
answers. To open the chat, follow the console's link, which <code>npm&nbsp;start</code> prints: <code>http://localhost:7070/?token=…</code></p>
<p>The token lies in <code>keys/http-token</code> in the installation's data folder unless one was configured. Programs
show it with every request under <code>/v1</code>:</p>
<h2>Send a message and wait for the answer</h2>
<pre tabindex="0">curl -H "Authorization: Bearer $TROUPE_TOKEN" -H "Content-Type: application/json" \\
  -d '{"text":"hello"}' "http://localhost:7070/v1/sessions/demo/messages?wait=60"</pre>
<h2>Follow a conversation</h2>
<pre tabindex="0">curl -N -H "Authorization: Bearer $TROUPE_TOKEN" \\
  "http://localhost:7070/v1/sessions/demo/events"</pre>
<h2>Use it like OpenAI's API</h2>
<pre tabindex="0">curl -H "Authorization: Bearer $TROUPE_TOKEN" -H "Content-Type: application/json" \\
  -d '{"model":"troupe","user":"demo","messages":[{"role":"user","content":"hello"}]}' \\
  "http://localhost:7070/v1/chat/completions"</pre>
</main>
</body>
</html>
`;
