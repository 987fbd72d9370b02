import { existsSync, rmSync } from 'node:fs'
import t from 'tap'
import { sendBytes, sendRaw } from '../harness/raw.ts'
import { attack, refused, run, start, WRITE, config } from '../harness/gate.ts'
import { build } from '../harness/helper.ts'

t.test('an allowed request does run at each door: the marker of these tests works', async (t) => {
  const { port, marker } = await start(t)
  for (const path of ['/run', '/v1/chat/completions']) {
    t.equal((await run(port, [], path)).status, 200, path)
    t.ok(existsSync(marker), path)
    rmSync(marker)
  }
})

t.test('every name of the loopback address is a Host of ours, in any case and with any port', async (t) => {
  const { port } = await start(t)
  for (
    const host of [
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      `[::1]:${port}`,
      `LocalHost:${port}`,
      'localhost',
      '127.0.0.1',
      '[::1]',
      'localhost:1',
      'localhost:65535'
    ]
  ) {
    t.equal((await sendRaw(port, { headers: [`Host: ${host}`] })).status, 200, host)
  }
})

t.test('a Host that is not ours is refused, and nothing runs', async (t) => {
  const { port, marker } = await start(t)
  for (
    const host of [
      'evil.example',
      `evil.example:${port}`,
      '127.0.0.1.evil.example',
      'localhost.evil.example',
      '127.0.0.2',
      '0.0.0.0',
      '[::]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[0:0:0:0:0:0:0:1]',
      '2130706433',
      '0x7f000001',
      '0x7f.1',
      '0177.0.0.1',
      '127.1',
      '127.0.0.1.',
      'localhost.',
      'localhost.localdomain',
      'tauri.localhost',
      'x.localhost',
      '127.0.0.1.nip.io',
      'xn--localhost',
      'localhost_',
      '-',
      '.'
    ]
  ) {
    refused(t, await attack(port, [`Host: ${host}`]), 403, 'ERR_FORBIDDEN', host)
  }
  t.notOk(existsSync(marker))
})

t.test('a Host that is missing, doubled or malformed is refused, and nothing runs', async (t) => {
  const { port, marker } = await start(t)
  const malformed = [
    '',
    'localhost:',
    'localhost:abc',
    'localhost:99999',
    'localhost:123456',
    'user@localhost',
    'localhost/x',
    '::1',
    '[::1',
    'local host',
    'localhost, localhost',
    'http://localhost',
    'user:x@localhost',
    'localhost@evil.example',
    'localhost#evil.example',
    'localhost?evil',
    'localhost\\evil',
    '[::1]evil.example',
    '[::1]:1:2',
    '[::1%25lo]',
    'localhost:-1',
    'localhost:+1',
    'localhost:1e3',
    'localhost:0x50',
    'localhost:80 evil.example',
    'local\thost',
    'ⓛocalhost',
    'localhost\u00ad',
    '*'
  ]
  for (const host of malformed) refused(t, await attack(port, [`Host: ${host}`]), 400, 'ERR_BAD_REQUEST', `"${host}"`)
  refused(t, await attack(port, ['Host: localhost', 'Host: localhost']), 400, 'ERR_BAD_REQUEST', 'two')
  refused(t, await attack(port, ['Host: localhost', 'Host: evil.example']), 400, 'ERR_BAD_REQUEST', 'two that differ')
  refused(
    t,
    await sendRaw(port, {
      method: 'POST',
      path: '/run',
      headers: ['X-Host: none', 'hOsT:', 'Content-Type: application/json'],
      body: WRITE
    }),
    400,
    'ERR_BAD_REQUEST',
    'empty'
  )
  t.notOk(existsSync(marker))
})

t.test('a request without any Host is refused in the one shape', async (t) => {
  const { port } = await start(t)
  refused(t, await sendBytes(port, 'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n'), 400, 'ERR_BAD_REQUEST', 'HTTP/1.1')
  refused(t, await sendBytes(port, 'GET /health HTTP/1.0\r\n\r\n'), 400, 'ERR_BAD_REQUEST', 'HTTP/1.0')
})

t.test('a target that is no path is refused, and nothing runs', async (t) => {
  const { port, marker } = await start(t)
  for (
    const path of [
      'http://evil.example/run',
      `http://127.0.0.1:${port}/run`,
      'https://localhost/run',
      '*',
      'run',
      'ftp://localhost/run',
      'HTTP://localhost/run'
    ]
  ) {
    refused(t, await run(port, [], path), 400, 'ERR_BAD_REQUEST', path)
    refused(t, await run(port, ['Host: localhost'], path), 400, 'ERR_BAD_REQUEST', `${path} with a Host of ours`)
  }
  t.notOk(existsSync(marker))
})

t.test('what several headers could hide is refused, and nothing runs', async (t) => {
  const { port, marker } = await start(t)
  const host = `Host: 127.0.0.1:${port}`
  const evil = 'Origin: https://evil.example'
  const before = (...lines: string[]) =>
    sendBytes(
      port,
      ['POST /run HTTP/1.1', ...lines, 'Content-Type: application/json', `Content-Length: ${WRITE.length}`, 'Connection: close', '', WRITE]
        .join('\r\n')
    )
  const hidden: Record<string, string[]> = {
    'in a folded line': [host, 'X-A: b\r\n ' + evil],
    'as a folded line': [host, 'Origin:\r\n https://evil.example'],
    'behind a bare line feed': [host, `X-A: b\n${evil}`],
    'behind a bare carriage return': [host, `X-A: b\r${evil}`],
    'with a blank before its colon': [host, 'Origin : https://evil.example'],
    'with a NUL': [host, 'Origin: tauri://localhost\0.evil.example'],
    'with its name in capitals': [host, 'ORIGIN: https://evil.example'],
    'before the Host': [evil, host],
    'between two Hosts': [host, evil, host],
    'with an expectation': [host, 'Expect: 100-continue', evil],
    'with an expectation nobody knows': [host, 'Expect: anything', evil],
    'with an upgrade': [host, 'Connection: Upgrade', 'Upgrade: websocket', evil],
    'with another method': [host, 'X-HTTP-Method-Override: GET', evil],
    'behind hundreds of others': [host, ...Array(900).fill('a:'), evil],
    'behind thousands of others': [host, ...Array(2_500).fill('a:'), evil]
  }
  for (const [how, lines] of Object.entries(hidden)) {
    const answer = await before(...lines)
    const { status, body } = answer.status === 100 ? { status: Number(answer.body.split(' ')[1]), body: answer.body } : answer
    t.ok([400, 403, 431].includes(status), `${how}: ${status}`)
    t.match(body, /"code":"ERR_/, `${how}: in the one shape`)
  }
  t.notOk(existsSync(marker))
})

t.test('a request inside another one is not run', async (t) => {
  const { port, marker } = await start(t)
  const host = `Host: 127.0.0.1:${port}`
  const inner = `POST /run HTTP/1.1\r\n${host}\r\nContent-Type: application/json\r\nContent-Length: ${WRITE.length}\r\n\r\n${WRITE}`
  const outer = (...lengths: string[]) =>
    `POST /memory/brain/fact HTTP/1.1\r\n${host}\r\nContent-Type: application/json\r\n${lengths.join('\r\n')}\r\n\r\n`
  const smuggled: Record<string, string> = {
    'two lengths': outer('Content-Length: 0', `Content-Length: ${inner.length}`) + inner,
    'a length and chunks': outer(`Content-Length: ${inner.length + 5}`, 'Transfer-Encoding: chunked') + '0\r\n\r\n' + inner,
    'chunks that are not the last coding': outer('Transfer-Encoding: chunked, identity') + '0\r\n\r\n' + inner,
    'a coding nobody knows': outer('Transfer-Encoding: xchunked') + '0\r\n\r\n' + inner,
    'chunks named twice': outer('Transfer-Encoding: chunked', 'Transfer-Encoding: identity') + '0\r\n\r\n' + inner,
    'a chunk with bare line feeds': outer('Transfer-Encoding: chunked') + '0\n\n' + inner,
    'a signed length': outer('Content-Length: +0') + inner,
    'a length in hex': outer('Content-Length: 0x0') + inner,
    'a length that is a list': outer('Content-Length: 0, 0') + inner,
    'a body whose request was refused': outer('Origin: https://evil.example', `Content-Length: ${inner.length}`, 'Connection: close') +
      inner
  }
  for (const [how, bytes] of Object.entries(smuggled)) {
    t.match((await sendBytes(port, bytes)).json(), { code: /^ERR_/, statusCode: /^40[03]$/ }, how)
  }
  t.notOk(existsSync(marker))
})

t.test('CONNECT and OPTIONS * lead nowhere', async (t) => {
  const { port } = await start(t)
  t.equal((await sendBytes(port, `CONNECT evil.example:443 HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)).body, '')
  refused(
    t,
    await sendRaw(port, { method: 'OPTIONS', path: '*', headers: ['Origin: tauri://localhost', 'Access-Control-Request-Method: POST'] }),
    400,
    'ERR_BAD_REQUEST',
    'OPTIONS *'
  )
})

t.test('the gate stands before routing: it also guards paths and methods that are not there', async (t) => {
  const { port } = await start(t)
  for (const request of [{ path: '/nowhere' }, { path: '/run', method: 'GET' }, { path: '/%zz' }, { method: 'PROPFIND' }]) {
    refused(
      t,
      await sendRaw(port, { ...request, headers: ['Origin: https://evil.example'] }),
      403,
      'ERR_FORBIDDEN',
      JSON.stringify(request)
    )
  }
})

t.test('listening on every address, literal addresses are names of ours and names are not', async (t) => {
  const { port } = await start(t, { host: '0.0.0.0', token: 'secret' })
  for (const host of [`192.168.1.5:${port}`, `[fe80::1]:${port}`, `0.0.0.0:${port}`]) {
    t.equal((await sendRaw(port, { headers: [`Host: ${host}`, `Origin: http://${host}`] })).status, 200, host)
  }
  t.equal((await sendRaw(port, { headers: ['Host: evil.example'] })).status, 403)
  t.equal((await sendRaw(port, { headers: [`Host: 192.168.1.5:${port}`, 'Origin: http://192.168.1.6'] })).status, 403)
})

t.test('no browser keeps an answer or takes it for something else', async (t) => {
  const app = await build(t)
  for (const url of ['/health', '/threads', '/memory/brain', '/nothing', '/threads/none', '/approvals']) {
    const { headers } = await app.inject(url)
    t.match(headers, { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' }, url)
  }
})

t.test('our own origins, those of the shells and the configured ones may call', async (t) => {
  const { port } = await start(t)
  const own = [`http://127.0.0.1:${port}`, `http://localhost:${port}`, `http://[::1]:${port}`]
  const shells = ['tauri://localhost', 'http://tauri.localhost', 'https://tauri.localhost']
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
    // The server of `tauri dev`, where config.json does not name it: a command may listen there.
    'http://localhost:1420',
    'http://localhost:5173.evil.example',
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
  for (const origin of foreign) refused(t, await attack(port, [`Origin: ${origin}`]), 403, 'ERR_FORBIDDEN', origin)
  refused(t, await attack(port, ['Origin: tauri://localhost', 'Origin: tauri://localhost']), 403, 'ERR_FORBIDDEN', 'two')
  const both = [`Origin: http://127.0.0.1:${port}`, 'Origin: https://evil.example']
  refused(t, await attack(port, both), 403, 'ERR_FORBIDDEN', 'own and another')
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
    refused(t, await attack(port, [`Sec-Fetch-Site: ${site}`]), 403, 'ERR_FORBIDDEN', site)
  }
  refused(t, await attack(port, ['Sec-Fetch-Site: none', 'Sec-Fetch-Site: cross-site']), 403, 'ERR_FORBIDDEN', 'two')
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
