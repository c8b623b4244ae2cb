/** The front page: what this is, and how to talk to it under this host. It holds no data, so anybody may see it. */
export function homePage(host: string): string {
  return PAGE.replaceAll("localhost:7070", host);
}

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Troupe</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1rem; color: #222; background: #fff; }
  pre { background: #f3f3f3; padding: 0.8rem; overflow-x: auto; border-radius: 4px; }
  @media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818; } pre { background: #262626; } }
</style>
</head>
<body>
<h1>Troupe</h1>
<p>This is the HTTP gateway of a Troupe installation: it takes messages for long-lived AI agents and gives their
answers. Every request under <code>/v1</code> needs the installation's token, which lies in
<code>keys/http-token</code> in its data folder unless one was configured.</p>
<h2>Send a message and wait for the answer</h2>
<pre>curl -H "Authorization: Bearer $TROUPE_TOKEN" -H "Content-Type: application/json" \\
  -d '{"text":"hello"}' "http://localhost:7070/v1/sessions/demo/messages?wait=60"</pre>
<h2>Follow a conversation</h2>
<pre>curl -N -H "Authorization: Bearer $TROUPE_TOKEN" \\
  "http://localhost:7070/v1/sessions/demo/events"</pre>
<h2>Use it like OpenAI's API</h2>
<pre>curl -H "Authorization: Bearer $TROUPE_TOKEN" -H "Content-Type: application/json" \\
  -d '{"model":"troupe","user":"demo","messages":[{"role":"user","content":"hello"}]}' \\
  "http://localhost:7070/v1/chat/completions"</pre>
</body>
</html>
`;
