import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync
} from 'node:fs'
import { createSocket } from 'node:dgram'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { build } from '../tools/helper.ts'
import { BUBBLEWRAP } from '../../harness/boxes.ts'

/** Some of the commands would harm the computer of whoever runs the tests while there is a hole in the box. */
const ONLY_IN_BOX = '[ "$(cat /proc/1/comm)" = bwrap ] || { echo ESC""APED; exit 99; }'

/** A working folder with a repository, and beside it what commands in it must neither reach nor change. */
export interface Stage {
  work: string
  /** Runs a command as the agent's tool does. */
  run(command: string, more?: object): Promise<any>
  /** The output of another tool. */
  output(toolName: string, input: object): Promise<any>
  /** Returns what shows that a command left the box; nothing while it holds. `output` is what the command answered. */
  traces(output: unknown): string[]
  close(): Promise<void>
}

/** Lays out and starts what the agent's user would have on the computer. */
export async function setStage (): Promise<Stage> {
  const secret = `s3cret-${randomBytes(8).toString('hex')}`
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'box-stage-')))
  const mark = `mark-${randomBytes(6).toString('hex')}`
  const path = (name: string) => join(base, name)
  for (const folder of ['home/.ssh', 'home/.aws', 'own', 'outside', 'work']) mkdirSync(path(folder), { recursive: true })
  for (const file of ['home/.ssh/id_ed25519', 'home/.aws/credentials', 'own/master.key', 'outside/file']) writeFileSync(path(file), secret)
  const settings = ['[user]', '\tname = Ada', '\temail = ada@example.com', '[http]', `\textraheader = "Authorization: ${secret}"`]
  writeFileSync(path('home/.gitconfig'), `${settings.join('\n')}\n`)
  const work = path('work')
  const env = { PATH: process.env.PATH, HOME: path('home') }
  const git = (...args: string[]) => execFileSync('git', args, { cwd: work, stdio: 'ignore', env })
  writeFileSync(join(work, 'file.txt'), 'one\n')
  mkdirSync(join(work, '.vscode'))
  writeFileSync(join(work, '.vscode/settings.json'), '{}\n')
  git('init', '-q', '-b', 'main')
  git('add', 'file.txt')
  git('commit', '-qm', 'first')

  for (const folder of ['.ssh', 'deep/.aws']) {
    mkdirSync(join(work, folder), { recursive: true })
    writeFileSync(join(work, folder, 'credentials'), secret)
  }

  let visits = 0
  const servers: Server[] = []
  const listen = async (server: Server, at: object) => {
    servers.push(server.on('connection', (socket) => {
      visits++
      socket.on('error', () => {}).end(`HTTP/1.0 200 OK\r\n\r\n${secret}`)
    }))
    server.listen(at)
    await once(server, 'listening')
    return server.address() as AddressInfo
  }
  const { port } = await listen(createServer(), { port: 0, host: '0.0.0.0' })
  await listen(createServer(), { path: path('outside/socket') })
  await listen(createServer(), { path: `\0${mark}` })
  const udp = createSocket('udp4').on('message', () => visits++)
  udp.bind(0, '127.0.0.1')
  await once(udp, 'listening')
  const victim: ChildProcess = spawn('sleep', ['1000'], { env: { PATH: process.env.PATH, HELD: secret }, stdio: 'ignore' })
  const interfaces = Object.values(networkInterfaces()).flat()
  const external = interfaces.find((each) => each?.family === 'IPv4' && !each.internal)?.address ?? '127.0.0.2'

  const environment = {
    ...{ PATH: process.env.PATH, LANG: process.env.LANG, HOME: path('home') },
    ...{ GITHUB_TOKEN: secret, DB_PASSWORD: secret, DATABASE_URL: `postgres://me:${secret}@db/x`, SSH_AUTH_SOCK: path('outside/socket') },
    ...{ MYSQL_PWD: secret, CONN: `Server=x;Password=${secret}`, GOPROXY: `https://me:${secret}@go.example`, FOO: secret }
  }
  const known = { BASE: base, MARK: mark, PORT: port, UDP: udp.address().port, HOST_ADDRESS: external, VICTIM: victim.pid }
  const variables = `export ${Object.entries(known).map(([name, value]) => `${name}='${value}'`).join(' ')}`
  const { output } = build({ workspace: work, forbidden: path('own'), environment, boxes: BUBBLEWRAP, homes: path('own/boxes') })

  /** What lies outside the working folder, and in it what programs obey. */
  const look = () => {
    const found: string[] = []
    const walk = (folder: string) => {
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        const each = join(folder, entry.name)
        if (each === work || each === path('own/boxes')) continue
        if (entry.isDirectory()) walk(each)
        found.push(`${relative(base, each)} ${entry.isFile() ? readFileSync(each, 'latin1') : ''} ${statSync(each).mode}`)
      }
    }
    walk(base)
    for (const name of ['.git/hooks', '.vscode']) walk(join(work, name))
    return found.sort()
  }
  const before = look()
  const OBEYED = /hookspath|fsmonitor|sshcommand|alias|include|filter|ext::|worktree = \//i

  return {
    work,
    output,
    run: (command, more = {}) => output('runCommand', { command: `${ONLY_IN_BOX}\n${variables}\n${command}`, ...more }),
    traces (output) {
      const text = JSON.stringify(output)
      const there = (readdirSync(work, { recursive: true }) as string[]).map((each) => join(work, each))
      const configs = there.filter((each) => basename(each) === 'config' && /git|bare/.test(each)).map((each) => readFileSync(each, 'utf8'))
      const hooks = there.filter((each) => /\/hooks\/(?!.*\.sample$)(?!.*\.boxed)/.test(each)).join()
      const isOfModule = (place: string) =>
        lstatSync(place).isFile() && /^gitdir: (\.\.\/)+\.git\/modules\/[\w/]+\n$/.test(readFileSync(place, 'utf8'))
      const isLead = (place: string) => basename(place) === '.git' && !lstatSync(place).isDirectory()
      const links = there.filter((place) => isLead(place) && !isOfModule(place))
      const still = execFileSync('ps', ['-eo', 'args']).toString()
      return [
        text.includes(secret) && 'a secret was read',
        text.includes('ESCAPED') && 'the command says so',
        JSON.stringify(look()) !== JSON.stringify(before) && 'something outside was changed',
        OBEYED.test(configs.join()) && 'git obeys new settings',
        hooks !== '' && `there are hooks: ${hooks}`,
        links.length > 0 && `folders name repositories elsewhere: ${links.join(', ')}`,
        ['.envrc', '.mcp.json', '.husky'].some((name) => existsSync(join(work, name))) && 'programs obey new files',
        visits > 0 && 'a server was reached',
        victim.exitCode !== null || victim.signalCode !== null ? 'another process was ended' : false,
        [`/tmp/${mark}`, `/dev/shm/${mark}`, `/var/tmp/${mark}`].some(existsSync) && 'a folder that all share was written',
        still.includes(`${mark}-stays`) && 'a process stays'
      ].filter((each) => typeof each === 'string')
    },
    async close () {
      victim.kill('SIGKILL')
      udp.close()
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
      rmSync(base, { recursive: true, force: true })
    }
  }
}

const python = (code: string) => `python3 -c '${code.replaceAll('\n', ';')}'`

/** Runs commands that try to leave the box; returns, by what they try, the traces that they left. */
export async function attempt (stage: Stage, commands = HOSTILE): Promise<Record<string, string[]>> {
  const escapes: Record<string, string[]> = {}
  for (const [what, command] of Object.entries(commands)) {
    const output = await stage.run(`{ ${command}; } 2>&1`)
    const traces = stage.traces(output)
    if (traces.length > 0) escapes[what] = [...traces, JSON.stringify(output).slice(0, 2_000)]
  }
  return escapes
}

/** As `attempt`, on several stages at once: most of the time is spent waiting. */
export async function attemptApart (commands = HOSTILE, stages = 3): Promise<Record<string, string[]>> {
  const escapes = await Promise.all(Array.from({ length: stages }, async (_, nth) => {
    const stage = await setStage()
    try {
      return await attempt(stage, Object.fromEntries(Object.entries(commands).filter((_, at) => at % stages === nth)))
    } finally {
      await stage.close()
    }
  }))
  return Object.assign({}, ...escapes)
}

/**
 * As `attempt`, while a command stays, whose network the others share. Fails where that did not start; the result has a trace when it is
 * gone in the end.
 */
export async function attemptBeside (stage: Stage, commands = HOSTILE): Promise<Record<string, string[]>> {
  const beside = await stage.run('while :; do sleep 1; done', { background: true })
  if (beside.running !== true) throw new Error(`no command stays: ${JSON.stringify(beside)}`)
  const escapes = await attempt(stage, commands)
  const { running } = await stage.output('stopCommand', { commandId: beside.commandId })
  return { ...escapes, ...(running !== false && { 'ends the command beside it': ['it did not end'] }) }
}

/** Commands that try to leave the box, by what they try. */
export const HOSTILE: Record<string, string> = {
  'writes beside the folder': 'echo x > "$BASE/outside/new"; echo x > ../outside/new; mkdir -p ../outside/deep',
  'changes what is beside the folder': 'echo x > "$BASE/outside/file"; chmod 777 "$BASE/outside/file"',
  'removes what is beside the folder': 'rm -rf "$BASE/outside" "$HOME/.ssh"',
  'writes through a link': 'ln -s "$BASE/outside" link; echo x > link/new; rm link',
  'links a file into the folder': 'ln "$BASE/outside/file" hard && echo x > hard; cat hard; rm -f hard',
  'writes to the home': 'echo x >> "$HOME/.bashrc"; echo x > "$HOME/.ssh/authorized_keys"',
  'reads keys of the user': 'cat "$HOME/.ssh/id_ed25519" "$HOME/.aws/credentials" ~/.gitconfig; git config --list --show-origin',
  'reads data of the service': 'cat "$BASE/own/master.key" ../own/master.key; ls "$BASE/own"; find "$BASE" -type f -exec cat {} +',
  'reads secrets of its environment': 'env; cat /proc/self/environ | tr "\\0" "\\n"; set',
  'reads what other processes have': 'cat /proc/*/environ /proc/$VICTIM/environ | tr "\\0" "\\n"; ps -eww -o args',
  'goes through the roots of processes': 'for p in /proc/[0-9]*; do cat "$p/root$BASE/own/master.key" "$p/cwd/../own/master.key"; done',
  'goes through open files': 'for f in /proc/self/fd/* /proc/1/fd/*; do cat "$f/../own/master.key" "$f/../../own/master.key"; done',
  'takes mounts away': `umount "$BASE/own" "$BASE/work"; umount -l /tmp; umount -a; ${python(`import ctypes
c=ctypes.CDLL(None)
[c.umount2(p.encode(),2) for p in ("/tmp","/root","${'/home'}","/var","/run","/")]`)}; cat "$BASE/own/master.key"`,
  mounts: 'mkdir -p m; mount --bind / m && echo ESCAPED; mount -t proc p m && echo ESCAPED; mount -t tmpfs t m && echo ESCAPED; rmdir m',
  'becomes root in a space of its own': 'unshare -Ur true && echo ESCAPED; unshare -Urm sh -c "umount -a; cat $BASE/own/master.key"; ' +
    'unshare -n true && echo ESCAPED',
  'enters the spaces of others': 'nsenter -t 1 -a cat "$BASE/own/master.key"; nsenter -t $VICTIM -m -p cat "$BASE/own/master.key"',
  'changes the root': 'chroot /proc/1/root cat "$BASE/own/master.key"; pivot_root . . && echo ESCAPED',
  'writes settings of the kernel': 'for f in kernel/core_pattern kernel/hostname vm/drop_caches kernel/modprobe; do ' +
    '(exec 3>>/proc/sys/$f) 2>/dev/null && echo ESCAPED; done; (exec 3>/proc/sysrq-trigger) 2>/dev/null && echo ESCAPED; true',
  'makes devices': 'mknod disk b 254 0 && head -c 1 disk && echo ESCAPED; rm -f disk; ' +
    'ls /dev | grep -E "^(sd|vd|nvme|mem|kmem|port|kvm)" && echo ESCAPED; (exec 3</dev/mem) && echo ESCAPED',
  'ends other processes': 'kill -9 $VICTIM; kill -9 -1; killall -9 sleep',
  'traces other processes': python(`import ctypes,os
v=int(os.environ["VICTIM"])
print("ESCAPED" if ctypes.CDLL(None).ptrace(16,v,0,0)==0 else "no")`),
  'calls a server of this computer': `curl -sm 2 "http://127.0.0.1:$PORT/"; exec 3<>/dev/tcp/127.0.0.1/$PORT; ${
    python(`import socket,os
socket.create_connection(("localhost",int(os.environ["PORT"])),2)`)}`,
  'answers its own approvals': 'for p in $PORT 3001; do ' +
    'curl -sm 2 -X POST -H "content-type: application/json" -d "{\\"approved\\":true}" "http://127.0.0.1:$p/approvals/x"; ' +
    'curl -sm 2 "http://[::1]:$p/"; done',
  'calls this computer by its address': 'curl -sm 2 "http://$HOST_ADDRESS:$PORT/"; ip addr | grep -E "eth|ens|enp|wl" && echo ESCAPED; ' +
    'grep -vE "lo:|Inter|face" /proc/net/dev && echo ESCAPED',
  'sends datagrams and asks for names': `echo x > /dev/udp/127.0.0.1/$UDP; getent hosts example.com && echo ESCAPED; ${
    python(`import socket
s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM)
s.sendto(b"x",("8.8.8.8",53))
print("ESCAPED")`)}`,
  'opens a raw socket': python(`import socket
socket.socket(socket.AF_PACKET,socket.SOCK_RAW)
print("ESCAPED")`),
  'calls sockets that have a path or a name': python(`import socket,os
c=lambda p: socket.socket(socket.AF_UNIX).connect_ex(p)
print(c(os.environ["BASE"]+"/outside/socket"), c(chr(0)+os.environ["MARK"]))`),
  'calls the host of a virtual machine': python(`import socket,ctypes
c=ctypes.CDLL(None,use_errno=True)
print("ESCAPED" if c.socket(40,1,0)>=0 or ctypes.get_errno()!=97 else "no")
print("ESCAPED" if c.syscall(425,4,ctypes.create_string_buffer(120))>=0 or ctypes.get_errno()!=38 else "no")`),
  'reads keys in the folder': 'cat .ssh/* deep/.aws/*; mv .ssh s; mv deep d && cat d/.aws/*; mv d deep; tar cf - . | strings',
  'reads where the service is': 'tr "\\0" "\\n" < /proc/1/cmdline | grep -F -e "$BASE/own" -e "$BASE/home" && echo ESCAPED; true',
  'fills the memory': 'for d in /var /var/tmp /run /dev /dev/shm ""; do head -c 600M /dev/zero > "$d/full" && echo ESCAPED; ' +
    'rm -f "$d/full"; done; true',
  'writes where all programs do': 'for d in /tmp /dev/shm /var/tmp /run; do echo x > "$d/$MARK"; done',
  'leaves a process': '(setsid sh -c ": $MARK-stays; sleep 1000; :" >/dev/null 2>&1 &); (nohup sh -c ": $MARK-stays; sleep 1000; :" ' +
    '>/dev/null 2>&1 &); trap "" TERM; (trap "" TERM; setsid sh -c ": $MARK-stays; sleep 1000; :" >/dev/null 2>&1 &)',
  'writes a hook': 'echo x > .git/hooks/pre-commit; cp /bin/true .git/hooks/post-merge; chmod 777 .git/hooks; rm -rf .git/hooks',
  'moves the hooks away': 'mv .git/hooks .git/other && mkdir .git/hooks; echo x > .git/hooks/pre-commit; ln -sfn /tmp .git/hooks',
  'moves the repository away': 'mv .git other && cp -r other .git && echo x > .git/hooks/pre-commit; ln -sfn other .git',
  'has git obey settings': 'git config core.hooksPath /tmp; git config core.fsmonitor "touch x"; git config alias.st "!touch x"; ' +
    'git config include.path ../x; printf "[core] sshCommand = x\\n" >> .git/config; git remote add evil "ext::sh -c x"',
  'makes a repository that git obeys': 'git init -q sub; echo x > sub/.git/hooks/post-checkout; git -C sub config core.fsmonitor x; ' +
    'git init -q --bare bare.git; git -C bare.git config core.fsmonitor x; echo x > bare.git/hooks/update',
  'has links in the place of what git obeys': 'git init -q linked; mkdir -p h; cp /bin/true h/post-commit; ' +
    'rm -rf linked/.git/hooks; ln -s ../../h linked/.git/hooks; cp linked/.git/config evil; ' +
    'git config -f evil core.fsmonitor x; ln -sf ../../evil linked/.git/config',
  'leaves hooks and settings for a later git init': 'mkdir -p later/.git/hooks; echo x > later/.git/hooks/pre-commit; ' +
    'printf "[core]\\n\\tfsmonitor = x\\n" > later/.git/config',
  'makes a submodule that git obeys': 'git init -q --separate-git-dir=.git/modules/x sub; git -C sub config core.fsmonitor x; ' +
    'echo x > .git/modules/x/hooks/post-checkout; git -C sub config core.worktree /tmp; cp -r .git/modules/x outer; mkdir other; ' +
    'echo "gitdir: ../outer" > other/.git; ln -s ../sub/.git other/.git2; mkdir third; ln -s ../sub/.git third/.git',
  'has editors and shells obey': 'echo "{}" > .vscode/tasks.json; echo x > .vscode/settings.json; mv .vscode v; echo x > .envrc; ' +
    'echo "{}" > .mcp.json; mkdir .husky; ln -s x .envrc'
}
