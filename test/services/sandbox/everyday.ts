import type { Test } from 'tap'
import type { Stage } from './stage.ts'

/** Commands of everyday work, each with what it answers. */
export const HONEST: Array<[command: string, answer: RegExp]> = [
  ['git init -q new && cd new && git checkout -qb main && echo a > a && git add a && git commit -qm 1 && git log --format=%an', /^Ada$/m],
  ['git checkout -qb topic && echo two >> file.txt && git commit -qam second && git checkout -q main && git merge -q topic && ' +
    'git log --oneline | wc -l', /^2$/m],
  ['git init -q mine && cd mine && git remote add origin https://example.com/project.git && ' +
    'git remote set-url --push origin git@example.com:project.git && git remote -v', /git@example\.com:project\.git \(push\)/],
  ['echo x >> file.txt && git stash -q && git stash pop -q && git checkout -q file.txt && git status --short | wc -l', /^\d+$/m],
  ['git clone -q . copy && git -C copy log --format=%s -1 && git -C copy rev-parse --abbrev-ref @{u}', /^second\norigin\/main$/m],
  ['echo "{\\"name\\":\\"p\\",\\"version\\":\\"1.0.0\\",\\"scripts\\":{\\"test\\":\\"node test.js\\"}}" > package.json && ' +
    'echo "console.log(6*7)" > test.js && npm test --silent && npm version --no-git-tag-version minor', /42[\s\S]*v1\.1\.0/],
  ['python3 -c "import tempfile,pathlib; pathlib.Path(\'out.txt\').write_text(str([1])); print(tempfile.mkdtemp())"', /^\/tmp\//],
  ['printf "all: a.o\\n\\tcat a.o\\na.o:\\n\\techo made > a.o\\n" > Makefile && make --silent', /^made$/m],
  ['echo "const a: number = 1; export default a" > a.ts && tsc --version && node a.ts && echo ran', /^Version [\s\S]*ran$/m],
  ['mkdir -p a/b && tar czf a.tgz a && tar tzf a.tgz && sed -i s/one/1/ file.txt && head -1 file.txt && mv a c && rm -r c', /^1$/m],
  ['mktemp && cat < /dev/stdin && echo to-error > /dev/stderr && echo out | tee /dev/null && (sleep 0.01 & wait) && id -u', /out/],
  ['touch "$HOME/.cache-of-a-tool" && mkdir -p ~/.cache/x && df -k /tmp | wc -l && nproc && date', /^2$/m]
]

/** More of them, of which some run long. They build on those before them. */
export const MORE: typeof HONEST = [
  [
    'git commit -qam work && git checkout -qb side && echo r > r.txt && git add r.txt && git commit -qm rebased ' +
      '&& git rebase -q topic && git log -1 --format=%s',
    /^rebased$/m
  ],
  ['git checkout -q topic && git cherry-pick side >/dev/null && git tag -am 1 v1 && git describe && git checkout -q main', /^v1$/m],
  ['git worktree add -q tree -b tree && ls tree && git worktree remove tree && git branch -qD tree', /^file\.txt$/m],
  [
    'echo p >> file.txt && git diff > p.patch && git checkout -q file.txt && git apply p.patch && git diff --stat ' +
      '| tail -1 && git checkout -q .',
    /1 file changed/
  ],
  [
    'printf "a\\nb\\n" > one && cp one two && echo c >> two; diff -u one two > d.patch; patch -s one d.patch && cmp ' +
      'one two && echo same',
    /^same$/m
  ],
  [
    'mkdir junk && touch junk/x && git clean -qfd junk && ls junk 2>/dev/null; git gc -q && git fsck 2>&1 | tail ' +
      '-1; echo ok',
    /^ok$/m
  ],
  ['git blame -s file.txt | head -1 && git grep -nE "one|1" && git shortlog -sn HEAD | head -1', /Ada/],
  ['git init -q --bare hub.git && git push -q hub.git main && git -C hub.git log --format=%s -1 main', /^work$/m],
  ['python3 -m venv v && v/bin/python -c "import sys; print(sys.prefix != sys.base_prefix)"', /^True$/m],
  [
    'printf "import unittest\\nclass T(unittest.TestCase):\\n  def test(self): self.assertEqual(6*7, 42)\\n" > ' +
      'test_a.py && python3 -m unittest test_a 2>&1 | tail -1',
    /^OK$/m
  ],
  [
    'python3 -c "import sqlite3; c = sqlite3.connect(\'a.db\'); c.execute(\'create table t(x)\'); c.execute(\'insert ' +
      'into t values (7)\'); c.commit(); print(c.execute(\'select x from t\').fetchone())" && python3 -m zipfile -c ' +
      'a.zip file.txt && python3 -m zipfile -l a.zip',
    /\(7,\)[\s\S]*file\.txt/
  ],
  [
    '(python3 -m http.server 8099 --bind 127.0.0.1 >/dev/null 2>&1 & echo $! > pid); for i in $(seq 50); do curl ' +
      '-s -o /dev/null http://127.0.0.1:8099/ && break; sleep 0.1; done; curl -s http://127.0.0.1:8099/file.txt; ' +
      'kill $(cat pid)',
    /one|1/
  ],
  ['printf "#include <stdio.h>\\nint main(){puts(\\"compiled\\");}\\n" > a.c && gcc -O1 -o a.out a.c && ./a.out', /^compiled$/m],
  [
    'printf "all: x y\\n%%: %%.src\\n\\tsleep 0.1; cp \\$< \\$@\\n" > M.mk && echo 1 > x.src && echo 2 > y.src && make ' +
      '-s -j2 -f M.mk && cat x y',
    /^1\n2$/m
  ],
  [
    'mkdir -p ts && echo "export const a: number = 1" > ts/a.ts && echo ' +
      '"{\\"compilerOptions\\":{\\"outDir\\":\\"out\\",\\"incremental\\":true,\\"tsBuildInfoFile\\":\\"ts/info\\",\\"type' +
      's\\":[]},\\"include\\":[\\"ts\\"]}" > tsconfig.json && tsc -p . && tsc -p . && ls out ts',
    /a\.js[\s\S]*info/
  ],
  [
    'printf "import test from \'node:test\'\\ntest(\'works\', () => {})\\n" > a.test.mjs && node --test a.test.mjs | ' +
      'grep "^. pass"',
    /pass 1/
  ],
  [
    'node -e "require(\'http\').createServer((q, r) => r.end(\'dev\')).listen(8098, function () { ' +
      'fetch(\'http://localhost:8098\').then((r) => r.text()).then((text) => { console.log(text); process.exit() }) })"',
    /^dev$/m
  ],
  [
    'node -e "const fs = require(\'fs\'); fs.mkdirSync(\'node_modules/.cache/x\', { recursive: true }); ' +
      'fs.writeFileSync(\'node_modules/.cache/x/y\', \'1\'); const w = fs.watch(\'.\', () => { console.log(\'seen\'); ' +
      'w.close() }); setTimeout(() => fs.writeFileSync(\'watched\', \'1\'), 100)"',
    /^seen$/m
  ],
  [
    'mkdir -p l && echo x > l/f && ln -s f l/s && ln l/f l/h && chmod 640 l/f && cp -a l l2 && cat l2/s && stat ' +
      '-c %a l2/h && mkfifo l/p && rm -r l l2',
    /^x\n640$/m
  ],
  ['timeout 1 sleep 5; echo $?; seq 1 100000 | tail -1; yes | head -3 | sort -u', /^124\n100000\ny$/m],
  [
    'find . -name "*.txt" -not -path "./.git/*" -print0 | xargs -0 grep -l one | sort | uniq | head -3; awk "END ' +
      '{ print NR }" file.txt',
    /^\d+$/m
  ],
  [
    'a=(x y z); for i in "$' +
      '{a[@]}"; do echo "$i"; done | paste -sd,; cat <<< here; [[ abc =~ b ]] && echo bash',
    /^x,y,z\nhere\nbash$/m
  ],
  [
    'openssl rand -hex 4 | wc -c; LC_ALL=C sort <<< $\'b\\na\' | head -1; date -u +%Y; gzip -k file.txt && zcat ' +
      'file.txt.gz | head -1',
    /^9\na\n20/
  ],
  [
    'npm pack --silent 2>/dev/null | tail -1 && npm ls --silent; npm config get registry; npm init -y --silent ' +
      '>/dev/null; echo done',
    /^done$/m
  ],
  ['(sleep 0.2; echo late) & echo early; wait; trap "echo bye" EXIT; ulimit -n >/dev/null; umask', /^early\nlate\n\d+\nbye$/m],
  ['perl -e "print 6*7, qq(\\n)"; perl -pi -e "s/one/1/" file.txt && git diff --shortstat; git checkout -q file.txt', /^42$/m],
  [
    'mkdir big && for i in $(seq 300); do echo $i > big/$i; done && tar cf big.tar big && rm -r big && tar xf ' +
      'big.tar && ls big | wc -l && rm -r big',
    /^300$/m
  ],
  ['du -sh . >/dev/null; df . | tail -1 | wc -l; ps aux | wc -l; uname -s; whoami || id -u; hostname', /Linux/]
]

/** Runs commands that must work, each with nothing taken away and nothing asked. */
export async function attemptHonest (t: Test, stage: Stage, commands: typeof HONEST): Promise<void> {
  for (const [command, answer] of commands) {
    const { exitCode, stdout, stderr, ...more } = await stage.run(command)
    const isOfTemporaryFile = /^Outside the working folder it wrote [^:]*: private[^.]*\. No other[^.]*\.$/.test(more.message)
    const message = isOfTemporaryFile ? undefined : more.message
    t.match({ exitCode, stdout, message }, { exitCode: 0, stdout: answer, message: undefined }, `${command}: ${stdout}${stderr}`)
  }
}
