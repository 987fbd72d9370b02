import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { BUBBLEWRAP, NO_BOX } from '../harness/boxes.ts'
import { build } from '../services/tools/helper.ts'

/** Commands that people and models run every day, by the program that they need. Each starts in a folder as `layProject` makes it. */
export const EVERYDAY: Record<string, string[]> = {
  git: [
    'git status --short && git log --oneline && git diff --stat HEAD~1',
    'echo two >> file.txt && git add -A && git commit -qm two && git log -1 --format=%s',
    'echo two >> file.txt; git commit -a',
    'git commit --amend; git log --format=%s',
    'git rebase -i HEAD~1; git log --format=%s',
    'git switch -qc topic && echo t > t && git add t && git commit -qm t && git switch -q main && git merge -q topic && ls',
    'git checkout -q other && git rebase -q main && git log --format=%s',
    'git merge other; git log -1 --format=%s',
    'echo x >> file.txt && git stash -q && git stash pop -q && git diff --stat',
    'git tag -a v1 -m one && git describe',
    'git cherry-pick other && ls',
    'git revert HEAD && git log -1 --format=%s',
    'git bisect start -q HEAD HEAD~1 && git bisect run true; git bisect reset -q',
    'git worktree add -q tree other && ls tree && git worktree remove tree',
    'git clone -q . copy && git -C copy log --format=%s -1',
    'echo p >> file.txt && git diff > p.patch && git checkout -q . && git apply p.patch && cat file.txt',
    'git blame -s file.txt | wc -l; git grep -n one; git shortlog -sn HEAD | wc -l',
    'git gc -q && git fsck',
    'git config user.name Bob && git config user.name',
    'git remote add origin https://example.invalid/x.git && git remote -v',
    'git fetch https://example.invalid/x.git',
    'git branch -m other renamed; git branch --list'
  ],
  npm: [
    'npm init -y', 'npm init', 'npm test --silent', 'npm run build --silent && cat out.txt', 'npm pack --silent',
    'npm version --no-git-tag-version minor', 'npm install --no-audit ./dep && node -p "require(\'dep\')"',
    'npm ls --silent; npm pkg get name',
    'npm install no-such-package-of-the-test', 'npm exec --offline -- local-tool'
  ],
  pnpm: ['pnpm test', 'pnpm install --offline && ls node_modules', 'pnpm pack', 'pnpm add no-such-package-of-the-test'],
  python3: [
    'python3 script.py && cat made.txt', 'python3 -m unittest test_one', 'python3 -m venv .venv && .venv/bin/python -c "print(6*7)"',
    'python3 -m compileall -q script.py && ls', 'python3 -c "input()"', 'python3 -m pip install no-such-package-of-the-test',
    'python3 -m pip --version | cut -d" " -f1', 'python3 -c "import multiprocessing as m; p = m.Pool(2); print(p.map(abs, [-1]))"'
  ],
  uv: [
    'uv venv --offline -q .venv && ls .venv/bin | head -1', 'uv init --offline -q --bare --name p sub && cat sub/pyproject.toml',
    'uv pip install no-such-x'
  ],
  make: ['make', 'make -j2 all', 'make no-such-target', 'make -n all'],
  cargo: [
    'cargo init -q --name one crate && cd crate && cargo build -q && cargo run -q',
    'cargo init -q --lib --name two crate && cd crate && cargo test -q',
    'cargo init -q --name three crate && cd crate && cargo add serde'
  ],
  go: [
    'mkdir g && cd g && go mod init x.example/g && cp ../main.go.txt main.go && go run . && go vet ./...',
    'mkdir g && cd g && go mod init x.example/g && cp ../main.go.txt main.go && go build -o prog . && ./prog',
    'mkdir g && cd g && go mod init x.example/g && go get example.invalid/x@latest'
  ],
  vim: [
    'vim -es -c "%s/one/1/" -c wq file.txt; cat file.txt',
    '$EDITOR file.txt; $VISUAL file.txt; git -c core.editor=vim commit --amend'
  ],
  ed: ['printf "s/one/1/\\nw\\nq\\n" | ed -s file.txt; cat file.txt']
}

const FILES: Record<string, string> = {
  'file.txt': 'one\n',
  'package.json': JSON.stringify({
    name: 'p',
    version: '1.0.0',
    private: true,
    scripts: { test: 'node -e "console.log(42)"', build: 'node -e "require(\'fs\').writeFileSync(\'out.txt\', \'built\')"' }
  }),
  'dep/package.json': '{"name":"dep","version":"1.0.0"}',
  'dep/index.js': 'module.exports = 7\n',
  'node_modules/.bin/local-tool': '#!/bin/sh\necho local > tool.txt\n',
  'script.py': 'import tempfile, pathlib\npathlib.Path("made.txt").write_text("42")\nprint(tempfile.gettempdir())\n',
  'test_one.py': 'import unittest\nclass T(unittest.TestCase):\n  def test(self): self.assertEqual(6*7, 42)\n',
  Makefile: 'all: a.o b.o\n%.o:\n\techo $@ > $@\n',
  'main.go.txt': 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println(42) }\n'
}

/** Lays out a folder with a repository of two branches. */
export function layProject (folder: string): void {
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text, { mode: name.startsWith('node_modules') ? 0o755 : 0o644 })
  }
  const date = '2026-01-01T00:00:00Z'
  const env = { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date }
  const script = [
    'git init -qb main . && git config user.email ada@example.com && git config user.name Ada && git add . && git commit -qm first',
    'echo o > other.txt && git checkout -qb other && git add . && git commit -qm other && git checkout -q main',
    'echo m > main.txt && git add . && git commit -qm second'
  ].join(' && ')
  execFileSync('/bin/sh', ['-c', script], { cwd: folder, env })
}

/** Folders whose files are compared by name, as they hold times and places; others are not compared. */
const BY_NAME = /(?:^|\/)(?:node_modules|copy)\//
const NOT_COMPARED = /(?:^|\/)(?:\.git|target|\.venv|__pycache__)\//

/** What a folder holds, as lines. */
function filesIn (folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name).slice(folder.length + 1)
    if (NOT_COMPARED.test(`${path}/`)) return []
    if (entry.isSymbolicLink()) return [`${path} -> ${readlinkSync(join(folder, path))}`]
    if (!entry.isFile()) return [path]
    const isText = !BY_NAME.test(path) && !/\.(?:tgz|pyc)$|prog$/.test(path)
    return [isText ? `${path} ${createHash('sha256').update(readFileSync(join(folder, path))).digest('hex').slice(0, 12)}` : path]
  }).sort()
}

export interface Compared {
  outside: { exitCode: number | null, files: string[], said: string }
  inside: { exitCode: number | null, files: string[], said: string, message?: string }
}

/** Runs a command in a folder like `template`, outside a box and in one. */
export async function compareInBox (template: string, base: string, command: string): Promise<Compared> {
  const run = async (place: string, boxed: boolean) => {
    const workspace = join(base, place, 'project')
    cpSync(template, workspace, { recursive: true, verbatimSymlinks: true })
    const homes = join(base, place, 'homes')
    const { output } = build({ workspace, forbidden: join(base, 'none'), boxes: boxed ? BUBBLEWRAP : NO_BOX, ...(boxed && { homes }) })
    const { exitCode, stdout, stderr, message } = await output('runCommand', { command, timeoutMs: 120_000 })
    return { exitCode, files: filesIn(workspace), said: `${stdout}${stderr}`.slice(-1_500), message }
  }
  return { outside: await run('outside', false), inside: await run('inside', true) }
}

/** Whether the program is there. */
export const hasProgram = (name: string): boolean => {
  try {
    execFileSync('/bin/sh', ['-c', `command -v ${name}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
