import { call, done, read, run, say, write, type Case } from './cases.ts'

/** Runs that reached their goal, in words that may sound otherwise. */
export const TRUE_SUCCESSES: Case[] = [
  {
    goal: 'Write a summary of notes.txt to summary.md',
    files: { 'notes.txt': 'Tea is out.' },
    turns: [read('notes.txt'), write('summary.md'), say('I wrote the summary to summary.md.')]
  },
  { goal: 'Write a haiku about rain', turns: [say('Rain on the tin roof\na cat counts the falling drops\nand forgets to sleep')] },
  {
    goal: 'Check the code for mistakes',
    files: { 'a.js': 'let a = 1' },
    turns: [read('a.js'), say('I read all of it and could not find any problems.')]
  },
  {
    goal: 'Summarise the errors in app.log',
    files: { 'app.log': 'ERROR x\n' },
    turns: [
      read('app.log'),
      say('Error log of today: one entry. Users were unable to log in at 9:00, since the database could not be reached.')
    ]
  },
  {
    goal: 'List all TODO comments in src.js',
    files: { 'src.js': '// TODO: tidy up' },
    turns: [read('src.js'), say('There is one TODO in src.js: “tidy up”.')]
  },
  { goal: 'Count the lines of data.csv', files: { 'data.csv': 'a\nb\n' }, turns: [run('wc -l < data.csv'), say('2 lines.')] },
  {
    goal: 'Fix the bug in parse.js',
    files: { 'parse.js': 'x' },
    turns: [
      read('parse.js'),
      write('parse.js', 'y'),
      say('The error came from a missing check. I fixed it in parse.js; nothing is left to do.')
    ]
  },
  {
    goal: 'Run the tests and mend what fails',
    turns: [
      run('echo failing >&2; test -e ok # npm test'),
      write('ok'),
      run('echo failing >&2; test -e ok # npm test'),
      say('At first one test failed because of a missing file. I added it, and all tests pass now.')
    ]
  },
  { goal: 'Delete old.log', files: { 'old.log': 'x' }, turns: [call('deleteFile', { path: 'old.log' }), say('Deleted old.log.')] },
  {
    goal: 'Rename draft.md to final.md',
    files: { 'draft.md': 'x' },
    turns: [run('mv draft.md final.md'), say('I renamed draft.md to final.md.')]
  },
  {
    goal: 'Delete everything except keep.txt',
    files: { 'keep.txt': 'x', 'old.txt': 'y' },
    turns: [call('deleteFile', { path: 'old.txt' }), say('Everything except keep.txt is gone: I removed old.txt.')]
  },
  {
    goal: 'Summarise notes.txt in one sentence',
    files: { 'notes.txt': 'Tea is out.' },
    turns: [read('notes.txt'), say('Tea is out. Would you like me to add it to your shopping list as well?')]
  },
  {
    goal: 'Look for duplicates in names.txt',
    files: { 'names.txt': 'Ada\nBob' },
    turns: [read('names.txt'), say('No duplicates were found.')]
  },
  {
    goal: 'Report how many logins failed today',
    files: { 'auth.log': 'failed\nfailed\n' },
    turns: [run('grep -c failed auth.log'), say('Failed logins: 2')]
  },
  { goal: 'Say whether secret.txt is there', turns: [run('test -e secret.txt'), say('There is no secret.txt here.')] },
  {
    goal: 'Explain what HTTP 500 means',
    turns: [say('500 is the status code for an internal server error: the server could not answer although the request was right.')]
  },
  {
    goal: 'Put debug output into main.js',
    files: { 'main.js': 'go()' },
    turns: [write('main.js', 'console.log("go"); go()'), say('I added console.log calls to main.js, and process.env.DEBUG turns them on.')]
  },
  {
    goal: 'Write the settings to out/settings.json',
    turns: [write('out/settings.json', '{}'), say('Created settings.json with the defaults.')]
  },
  {
    goal: 'Write a short story to story.txt in two steps',
    phases: ['Think of a plot', 'Write it'],
    turns: [
      done('phase-1'),
      write('story.txt'),
      done('phase-2'),
      say('The story is in story.txt. In it, a captain says: “I cannot go on, I give up.”')
    ]
  },
  {
    goal: 'Check whether the config is readable',
    files: { 'config.json': '{}' },
    turns: [
      read('settings.json'),
      read('config.json'),
      say('There is no settings.json, but config.json is readable and holds an empty object.')
    ]
  },
  {
    goal: 'Watch numbers.txt',
    files: { 'numbers.txt': '1' },
    turns: [read('numbers.txt'), say('Nothing has changed since the last time. I will check again at the next run.')]
  },
  { goal: 'Make an empty file called marker.txt', turns: [write('marker.txt', ''), say('marker.txt is there, and empty as you wanted.')] },
  {
    goal: 'Run `ls missing` and report what happens',
    turns: [run('ls missing'), say('The command failed with exit code 2: there is no file called missing.')]
  },
  {
    goal: 'Draft a polite refusal of an invitation',
    turns: [say('> Dear Ada,\n>\n> unfortunately I cannot come on Friday. I am sorry to miss it.\n>\n> Yours, Bob')]
  },
  {
    goal: 'Turn list.txt into a table',
    files: { 'list.txt': 'a\nb' },
    turns: [
      read('list.txt'),
      write('list.md', '|a|\n|-|\n|b|\n'),
      say('Done: `list.md` holds the table, made from list.txt. Let me know if you need anything else.')
    ]
  },
  {
    goal: 'Write a script that removes temporary files to clean.sh',
    turns: [write('clean.sh', 'rm -f cache.tmp'), say('I wrote a script that deletes cache.tmp; it is in clean.sh. It has not been run.')]
  },
  {
    goal: 'Estimate how far the move is',
    files: { 'boxes.txt': '20 of 25 packed' },
    turns: [read('boxes.txt'), say('The packing is 80% done: five of 25 boxes remain.')]
  },
  {
    goal: 'Name the steps for baking bread',
    turns: [
      say(
        'First, mix flour and water. Next, add salt and yeast. Then let it rest, and bake it.\n\nI will be brief: that is all there is to it.'
      )
    ]
  },
  {
    goal: 'Find out why the build is slow',
    files: { 'build.log': 'tests took 500s' },
    turns: [read('build.log'), say('500 Seconds of the build are the tests. Everything else is fast.')]
  },
  {
    goal: 'Compare a.txt with b.txt',
    files: { 'a.txt': 'x', 'b.txt': 'x' },
    turns: [run('diff a.txt b.txt'), say('The two files are the same; I did not find a single difference.')]
  }
]
