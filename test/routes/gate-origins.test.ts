import { existsSync } from 'node:fs'
import t from 'tap'
import { sendRaw } from '../harness/raw.ts'
import { config, refused, run, start } from '../harness/gate.ts'

t.test('our own origins, those of the shells and the configured ones may call', async (t) => {
  const { port } = await start(t)
  const own = [`http://127.0.0.1:${port}`, `http://localhost:${port}`, `http://[::1]:${port}`]
  const shells = ['tauri://localhost', 'http://tauri.localhost', 'https://tauri.localhost', 'http://localhost:1420']
  for (const origin of [...own, ...shells, ...config.allowedOrigins]) {
    const answer = await sendRaw(port, { headers: [`Origin: ${origin}`, 'Sec-Fetch-Site: cross-site'] })
    t.equal(answer.status, 200, origin)
    t.equal(answer.headers['access-control-allow-origin'], origin, `${origin} is echoed`)
  }
})

t.test('every other origin is refused, and nothing runs', async (t) => {
  const { port, marker } = await start(t)
  const foreign = [
    'null',
    '',
    'https://evil.example',
    'http://localhost',
    'http://localhost:1',
    `https://localhost:${port}`,
    `http://evil.example:${port}`,
    'http://localhost:1420.evil.example',
    'tauri://localhost.evil',
    'TAURI://localhost',
    'app://other.app',
    'app://my.app/',
    'file://',
    '*',
    'Null',
    'undefined',
    `http://localhost:${port}/`,
    `http://localhost:${port}.`,
    `HTTP://localhost:${port}`,
    `http://LOCALHOST:${port}`,
    `http://user@localhost:${port}`,
    `http://127.1:${port}`,
    `http://2130706433:${port}`,
    `http://[::ffff:127.0.0.1]:${port}`,
    `http://[0:0:0:0:0:0:0:1]:${port}`,
    `http://localhost.:${port}`,
    `//localhost:${port}`,
    `localhost:${port}`,
    `ws://localhost:${port}`,
    `http://localhost:${port}, https://evil.example`,
    `http://localhost:${port} https://evil.example`,
    `https://evil.example http://localhost:${port}`,
    `null, http://localhost:${port}`,
    `http://localhost:${port}\t.evil.example`,
    `http://localhost:0${port}`,
    'http://tauri.localhost:80',
    'blob:http://localhost',
    'data:',
    'about:blank',
    'chrome-extension://x',
    'moz-extension://x'
  ]
  for (const origin of foreign) refused(t, await run(port, [`Origin: ${origin}`]), 403, 'ERR_FORBIDDEN', origin)
  refused(t, await run(port, ['Origin: tauri://localhost', 'Origin: tauri://localhost']), 403, 'ERR_FORBIDDEN', 'two')
  refused(t, await run(port, [`Origin: http://127.0.0.1:${port}`, 'Origin: https://evil.example']), 403, 'ERR_FORBIDDEN', 'own and another')
  t.notOk(existsSync(marker))
})

t.test('a refused origin gets no CORS headers', async (t) => {
  const { port } = await start(t)
  const answer = await sendRaw(port, { headers: ['Origin: https://evil.example'] })
  t.notOk(Object.keys(answer.headers).some((name) => name.startsWith('access-control')))
})

t.test('without an Origin, requests that a browser marks as coming from another site are refused', async (t) => {
  const { port, marker } = await start(t)
  for (
    const site of [
      'cross-site',
      'same-site',
      'Cross-Site',
      'anything',
      '',
      'none, cross-site',
      'same-origin, cross-site',
      'none;',
      '"none"',
      'null',
      '*'
    ]
  ) {
    refused(t, await run(port, [`Sec-Fetch-Site: ${site}`]), 403, 'ERR_FORBIDDEN', site)
  }
  refused(t, await run(port, ['Sec-Fetch-Site: none', 'Sec-Fetch-Site: cross-site']), 403, 'ERR_FORBIDDEN', 'two')
  t.notOk(existsSync(marker))
  for (const site of ['same-origin', 'none']) t.equal((await sendRaw(port, { headers: [`Sec-Fetch-Site: ${site}`] })).status, 200, site)
})

t.test('an origin that config.json allows from now on may call after a reload', async (t) => {
  const { app, port } = await start(t)
  t.equal((await sendRaw(port, { headers: ['Origin: app://new.app'] })).status, 403)
  await app.config.update((config) => ({ ...config, allowedOrigins: ['app://new.app'] }))
  t.equal((await sendRaw(port, { headers: ['Origin: app://new.app'] })).status, 200)
  t.equal((await sendRaw(port, { headers: ['Origin: app://my.app'] })).status, 403)
})
