/*
 * Runs on the page that is shown without a cookie. A browser that followed a link from another site keeps the cookie back
 * for that one request only: then it is asked for again from here, as our own page, and the chat comes.
 */
const response = await fetch("/v1/sessions?limit=1");
if (response.ok) location.replace(`/${location.hash}`);
