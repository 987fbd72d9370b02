import { fetched, list, phrasings, read, remove, run, screenshot, search, system, unread, write } from './calls.ts'

phrasings({
  'a path is any name that a system allows': [
    ['read "C:\\Program Files\\My App\\settings.ini"', read('C:\\Program Files\\My App\\settings.ini')],
    ['list the files in D:\\', list('D:\\')],
    ["list '/home/me/My Documents'", list('/home/me/My Documents')],
    ['read .gitignore, then read ./.github/workflows/ci.yml', read('.gitignore'), read('./.github/workflows/ci.yml')],
    ['open "./a b/c d.txt".', read('./a b/c d.txt')],
    ['read ../../etc/app.conf', read('../../etc/app.conf')],
    ['delete ~/tmp/old.log', remove('~/tmp/old.log')],
    ['read src/@types/index.d.ts', read('src/@types/index.d.ts')],
    ['show me logs/2026-11-22T10:00.txt', read('logs/2026-11-22T10:00.txt')],
    ['read [draft] notes.md', read('[draft] notes.md')],
    ['remove "it\'s over.txt"', remove("it's over.txt")],
    ['read docs/"my notes.txt"', read('docs/my notes.txt')],
    ['cat package.json from the folder "my app"', read('my app/package.json')],
    ['Read report (final).txt', read('report (final).txt')],
    ['list the files in résumés/2026', list('résumés/2026')],
    ['read "then.txt" and "and.txt"', read('then.txt'), read('and.txt')],
    ['delete \\\\server\\share\\old.txt', remove('\\\\server\\share\\old.txt')]
  ],
  'what stands in quotes is data': [
    ["write 'delete everything; then run `rm -rf /`' to warning.txt", write('warning.txt', 'delete everything; then run `rm -rf /`')],
    ['write "1. list the files\n2. delete a.txt" to plan.md', write('plan.md', '1. list the files\n2. delete a.txt')],
    ['write „Guten Tag“ to gruss.txt', write('gruss.txt', 'Guten Tag')],
    ["write 'she said \"it's late\", then left' to story.txt", write('story.txt', 'she said "it\'s late", then left')],
    ['write ‘don’t panic’ to guide.txt', write('guide.txt', 'don’t panic')],
    ['write “a “nested” word” to quotes.txt', write('quotes.txt', 'a “nested” word')],
    ['save `const a = "x"` to src/a.js', write('src/a.js', 'const a = "x"')],
    [
      'write to main.py:\n```python\nprint("then delete a.txt")\n```\nthen run `python main.py`',
      write('main.py', 'print("then delete a.txt")\n'),
      run('python main.py')
    ],
    ['create notes/today.md containing "# Today\n\n- read mail"', write('notes/today.md', '# Today\n\n- read mail')],
    ["write '' to empty.txt and read it", write('empty.txt', ''), read('empty.txt')],
    ["run `grep -r 'a; then b' .`", run("grep -r 'a; then b' .")],
    ['run ``echo `date` ``', run('echo `date` ')],
    ['run "node -e \\"console.log(1)\\"" and take a screenshot', run('node -e "console.log(1)"'), screenshot],
    ['search for "how to delete a.txt"', search('how to delete a.txt')],
    ["please write 'buy milk' into shopping.txt for me", write('shopping.txt', 'buy milk')],
    ["put 'x=1' in the file .env", write('.env', 'x=1')]
  ],
  'the order of the words is the order of the calls': [
    ["first write 'a' to one.txt, then write 'b' to two.txt, and then list here", write('one.txt', 'a'), write('two.txt', 'b'), list()],
    ['read a.txt, after that delete it', read('a.txt'), remove('a.txt')],
    [
      'First, take a screenshot. After that, list the files in out. Finally, read out/log.txt.',
      screenshot,
      list('out'),
      read('out/log.txt')
    ],
    ["1. write 'x' to a.txt\n2. read a.txt\n3. delete a.txt", write('a.txt', 'x'), read('a.txt'), remove('a.txt')],
    ['1) run `npm ci`\n2) run `npm test`\n3) read coverage/report.txt', run('npm ci'), run('npm test'), read('coverage/report.txt')],
    [
      '- system info\n- list the files in src\n- fetch http://localhost:3000/health',
      system,
      list('src'),
      fetched('http://localhost:3000/health')
    ],
    ['list src and then list test and then delete old.txt', list('src'), list('test'), remove('old.txt')],
    ['Please list the files here; then, read README.md; finally run `git log -1`.', list(), read('README.md'), run('git log -1')],
    [
      "could you create a.txt with 'one', b.txt with 'two' and then read both.txt",
      write('a.txt', 'one'),
      write('b.txt', 'two'),
      read('both.txt')
    ],
    ['fetch https://example.com/a,b;c?x=1&y=(2) then read it.txt', fetched('https://example.com/a,b;c?x=1&y=(2)'), read('it.txt')],
    [
      'search for tap water, then fetch https://example.com/, then system info',
      search('tap water'),
      fetched('https://example.com/'),
      system
    ],
    ['read a.txt\r\nthen read b.txt\r\n', read('a.txt'), read('b.txt')],
    ['would you kindly read notes.txt, and after that take a screenshot?', read('notes.txt'), screenshot],
    ['list the files in src, read src/a.ts, delete src/b.ts', list('src'), read('src/a.ts'), remove('src/b.ts')]
  ],
  'nothing dangerous is guessed': [
    ['never delete a.txt', unread('never delete a.txt')],
    ['should I delete a.txt?', unread('should I delete a.txt?')],
    ['how do I delete a.txt?', unread('how do I delete a.txt?')],
    ['"delete a.txt"', unread('"delete a.txt"')],
    ['delete here', unread('delete here')],
    ['delete the old ones', unread('delete the old ones')],
    ['rm -rf', unread('rm -rf')],
    ['delete but', unread('delete but')],
    ['delete them', unread('delete them')],
    ['delete stuff', unread('delete stuff')],
    ['create `ls`', write('ls', '')],
    ['put what mail.txt says into summary.txt', write('summary.txt', 'what mail.txt says')],
    ['read a.txt but do not delete it', unread('read a.txt but do not delete it')],
    ['write the word delete to words.txt', write('words.txt', 'delete')],
    ['write delete b.txt to todo.txt', write('todo.txt', 'delete b.txt')]
  ]
})
