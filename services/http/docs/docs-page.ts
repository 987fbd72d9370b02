export const PAGE = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width">
  <title>local-agent-service: interface</title>
  <link rel="stylesheet" href="/docs/swagger-ui.css">
  <link rel="icon" href="/docs/favicon-32x32.png">
</head>
<body>
  <form class="swagger-ui" hidden>
    <label>This service needs its token (LOCAL_AGENT_TOKEN): <input type="password" name="token" autocomplete="off"></label>
    <button class="btn">Show the interface</button>
    <p role="alert"></p>
  </form>
  <div id="interface"></div>
  <script src="/docs/swagger-ui-bundle.js"></script>
  <script src="/docs/start.js"></script>
</body>
</html>
`

/** The page's script. Asks for the token only when the service needs one, and keeps it only while the page is open. */
export const START = `'use strict'
const form = document.querySelector('form')

async function show (token) {
  const answer = await fetch('/openapi.json', { headers: token ? { authorization: 'Bearer ' + token } : {} })
  if (answer.status === 401) {
    form.hidden = false
    document.querySelector('[role=alert]').textContent = token ? 'That is not the token.' : ''
    return
  }
  form.hidden = true
  const spec = await answer.json()
  const ui = SwaggerUIBundle({
    dom_id: '#interface',
    // Calls go to this service, whatever port it has.
    spec: { ...spec, servers: [{ url: location.origin }] },
    validatorUrl: null,
    deepLinking: true,
    onComplete: () => { if (token) ui.preauthorizeApiKey('token', token) }
  })
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  show(form.token.value)
})
show('')
`
