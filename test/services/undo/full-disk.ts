// The service with its configuration folder, and then the files of its user, on the small disk at the directory given. Prints what
// was seen as one line of JSON.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  statfsSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { of, say } from '../../harness/agent.ts'
import { build } from '../../harness/helper.ts'
import { UNASKED } from '../../harness/undo.ts'

const MIB = 1024 * 1024
const disk = process.argv[2]
const elsewhere = mkdtempSync(join(tmpdir(), 'undo-'))
const ballast = `${disk}/ballast`
const endings: Array<() => unknown> = []
const own = { teardown: (work: () => unknown) => endings.push(work), testdir: () => '' }
const old = randomBytes(3 * MIB)

/** The files of the disk that are open and have no name any more: what was replaced is watched for a second, and takes room. */
const heldFiles = () => readdirSync('/proc/self/fd').filter((fd) => {
  try {
    const path = readlinkSync(`/proc/self/fd/${fd}`)
    return path.startsWith(disk) && path.endsWith('(deleted)')
  } catch {
    return false
  }
})

/** Leaves so many bytes of the disk, once nothing more of it is going to be free by itself. */
async function leave (bytes: number) {
  while (heldFiles().length > 0) await sleep(20)
  rmSync(ballast, { force: true })
  const { bavail, bsize } = statfsSync(disk)
  appendFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - bytes)))
}

async function start (home: string, cwd: string) {
  for (const folder of [home, cwd]) mkdirSync(folder, { recursive: true })
  writeFileSync(`${home}/config.json`, JSON.stringify({ ...UNASKED, analysis: false }))
  writeFileSync(`${cwd}/file.txt`, old)
  const app = await build(own, { home, cwd })
  const tell = async (sentence: string) => {
    const { events } = await say(app, sentence)
    return {
      runId: of(events, 'start')[0]?.messageMetadata.runId,
      error: of(events, 'tool-output-error')[0]?.errorText,
      isOld: existsSync(`${cwd}/file.txt`) && readFileSync(`${cwd}/file.txt`).equals(old)
    }
  }
  const write = () => tell('write "new" to file.txt')
  const undo = async (runId: string) => (await app.inject({ method: 'POST', url: `/runs/${runId}/undo` })).json()
  return { app, write, tell, undo, files: () => readdirSync(cwd), copies: () => readdirSync(`${home}/undo`).length }
}

// The copy finds no room, at each of the writes that it takes.
const home = await start(`${disk}/home`, `${elsewhere}/work`)
const refused = []
for (let room = 0.5; room < 2.9; room += 0.3) {
  await leave(room * MIB)
  refused.push({ ...await home.write(), copies: home.copies() })
}
await leave(MIB)
const command = { ...await home.tell('run `rm file.txt`'), copies: home.copies() }
await leave(5 * MIB)
const written = { ...await home.write(), copies: home.copies() }
// An undo keeps what it replaces, which is small here; then its record finds no room.
await leave(0)
const undoRefused = { answer: await home.undo(written.runId), file: readFileSync(`${elsewhere}/work/file.txt`, 'utf8') }
rmSync(ballast)
while ((await home.app.inject('/health')).json().status !== 'ok') await home.app.clock.sleep(20)
const undone = { answer: await home.undo(written.runId), isOld: readFileSync(`${elsewhere}/work/file.txt`).equals(old) }

// A copy of the folder finds no room, and then what an apply replaces.
const post = async (url: string, payload: object = {}) => (await home.app.inject({ method: 'POST', url, payload })).json()
const onCopy = () =>
  post('/run/sync', { id: 'c', message: { role: 'user', content: 'write "new" to file.txt' }, options: { workspace: 'copy' } })
const file = () => readFileSync(`${elsewhere}/work/file.txt`)
await leave(MIB)
const copyRefused = { answer: await onCopy(), left: readdirSync(`${disk}/home-copies`) }
rmSync(ballast)
const { runId: onCopyId } = await onCopy()
await leave(MIB / 2)
const applyRefused = { answer: await post(`/runs/${onCopyId}/apply`), isOld: file().equals(old) }
rmSync(ballast)
const applied = { answer: await post(`/runs/${onCopyId}/apply`), file: file().toString() }
for (const end of endings.splice(0).reverse()) await end()
for (const name of ['home', 'home-copies']) rmSync(`${disk}/${name}`, { recursive: true })

// What comes back finds no room.
const work = await start(`${elsewhere}/home`, `${disk}/work`)
const { runId } = await work.write()
await leave(1 * MIB)
const stuck = { answer: await work.undo(runId), file: readFileSync(`${disk}/work/file.txt`, 'utf8'), files: work.files() }
truncateSync(ballast)
const back = { answer: await work.undo(runId), isOld: readFileSync(`${disk}/work/file.txt`).equals(old), files: work.files() }

// What an apply takes over finds no room in the folder of its user: of two files, the second.
const onFull = async (url: string, payload: object = {}) => (await work.app.inject({ method: 'POST', url, payload })).json()
const large = await onFull('/run/sync', {
  id: 'c',
  message: { role: 'user', content: 'run `head -c 2097152 /dev/urandom > a.bin; head -c 3145728 /dev/urandom > file.txt`' },
  options: { workspace: 'copy' }
})
await leave(3 * MIB)
const whole = (name: string) => existsSync(`${disk}/work/${name}`) ? statSync(`${disk}/work/${name}`).size : undefined
const seen = () => ({ files: work.files(), first: whole('a.bin'), isOld: readFileSync(`${disk}/work/file.txt`).equals(old) })
const folderFull = { answer: await onFull(`/runs/${large.runId}/apply`), ...seen() }
truncateSync(ballast)
const folderFreed = { answer: await onFull(`/runs/${large.runId}/apply`), ...seen() }
for (const end of endings.splice(0).reverse()) await end()
rmSync(elsewhere, { recursive: true })
const ofFolder = { stuck, back, folderFull, folderFreed }
console.log(JSON.stringify({ refused, command, written, undoRefused, undone, copyRefused, applyRefused, applied, ...ofFolder }))
