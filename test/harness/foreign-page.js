/* global addEventListener, document, Blob, EventSource, Image, navigator, WebSocket, Worker, window */
// Runs in a browser, in a page that may not call the service at `service`, each attack under its own `tag`. What it
// resolves to is what the page got to see: 'nothing' when that was no more than a failure.
const WRITE = '{"messages":[{"role":"user","content":"write \'x\' to marker.txt"}]}'

const post = (url, options) => fetch(url, { method: 'POST', body: WRITE, ...options })
  .then(async (answer) => answer.type === 'opaque' || answer.status === 403 ? 'nothing' : await answer.text(), () => 'nothing')

/** Resolves to 'nothing' when loading it fails. */
const load = (element, src) => new Promise((resolve) => {
  element.onload = () => resolve('loaded')
  element.onerror = () => resolve('nothing')
  element.src = src
  document.head.append(element)
})

/** A request written as a program, for a worker or a frame; it tells `whom` how it went. */
const program = (url, whom) => `fetch(${JSON.stringify(url)}, { method: 'POST', mode: 'no-cors', body: ${JSON.stringify(WRITE)} })
  .then((answer) => answer.status === 403 ? '' : answer.text(), () => '').then((text) => ${whom}(text || 'nothing', '*'))`

window.attacks = {
  'a JSON request': (to) => post(to('/run'), { headers: { 'content-type': 'application/json' } }),
  'a request with credentials and a token': (to) => post(to('/run'), {
    credentials: 'include',
    headers: { authorization: 'Bearer x', 'content-type': 'application/json' }
  }),
  'a simple request': (to) => post(to('/run')),
  'an opaque request': (to) => post(to('/run'), { mode: 'no-cors', keepalive: true }),
  'an opaque request that says it is JSON': (to) => post(to('/run'), { mode: 'no-cors', headers: { 'content-type': 'application/json' } }),
  'bytes without a type': (to) => post(to('/run'), { mode: 'no-cors', body: new Blob([WRITE]) }),
  'a redirect of its own server': (to, origin) => post(
    `${origin}/?to=${encodeURIComponent(to('/run'))}&${new URL(to('/')).searchParams}`,
    { mode: 'no-cors' }
  ),
  'reading what is remembered': (to) => post(to('/memory/brain'), { method: 'GET', body: undefined }),
  'deleting what is remembered': (to) => post(to('/memory/brain'), { method: 'DELETE', body: undefined }),

  async 'a beacon' (to) {
    navigator.sendBeacon(to('/run'), WRITE)
    return 'nothing'
  },
  async 'a beacon of JSON' (to) {
    navigator.sendBeacon(to('/run'), new Blob([WRITE], { type: 'application/json' }))
    return 'nothing'
  },

  async 'forms of every type' (to) {
    for (const enctype of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const frame = Object.assign(document.createElement('iframe'), { name: enctype })
      const form = Object.assign(document.createElement('form'), { action: to('/run'), method: 'POST', enctype, target: enctype })
      // As text/plain this is JSON: the equals sign between name and value falls into a text.
      form.append(Object.assign(document.createElement('input'), { name: `${WRITE.slice(0, -1)},"x":"`, value: '"}' }))
      document.body.append(frame, form)
      const loaded = new Promise((resolve) => { frame.onload = resolve })
      form.submit()
      await loaded
    }
    return 'nothing'
  },

  'an event source': (to) => new Promise((resolve) => {
    const source = new EventSource(to('/run/x/stream'))
    source.onopen = () => resolve('open')
    source.onerror = () => {
      source.close()
      resolve('nothing')
    }
  }),
  'a web socket': (to) => new Promise((resolve) => {
    const socket = new WebSocket(to('/run').replace('http', 'ws'))
    socket.onopen = () => resolve('open')
    socket.onerror = () => resolve('nothing')
  }),

  'an image': (to) => load(new Image(), to('/docs/favicon-32x32.png')),
  'a script': (to) => load(document.createElement('script'), to('/config')),
  'a frame of its page': (to) => new Promise((resolve) => {
    const frame = document.createElement('iframe')
    frame.onload = () => resolve(frame.contentDocument?.querySelector('script') ? 'its page' : 'nothing')
    frame.src = to('/docs')
    document.body.append(frame)
  }),
  'a frame without an origin': (to) => new Promise((resolve) => {
    const frame = document.createElement('iframe')
    frame.setAttribute('sandbox', 'allow-scripts')
    addEventListener('message', ({ data }) => resolve(data), { once: true })
    frame.srcdoc = `<script>${program(to('/run'), 'parent.postMessage')}</script>`
    document.body.append(frame)
  }),
  'a worker': (to) => new Promise((resolve) => {
    new Worker(URL.createObjectURL(
      new Blob([program(to('/run'), '((text) => postMessage(text))')])
    )).onmessage = ({ data }) => resolve(data)
  })
}

/** All of them at once; resolves to what each got. */
window.attack = async (service, of) => Object.fromEntries(await Promise.all(Object.entries(window.attacks).map(async ([name, run]) =>
  [name, await run((path) => `${service}${path}?attack=${encodeURIComponent(`${name} ${of}`)}`, window.origin)])))
