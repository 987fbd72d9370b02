import neostandard from 'neostandard'
import { closedIterators } from './scripts/lint/closed-iterators.ts'
import { wholeNames } from './scripts/lint/whole-names.ts'
import { serviceImports } from './scripts/lint/service-imports.ts'

// The arrows of the source tree: schemas <- services <- plugins; routes reach services through decorators only.
const forbid = (files, patterns) => ({
  files,
  rules: {
    'no-restricted-imports': ['error', { patterns: patterns.map(([group, message]) => ({ group, message })) }]
  }
})
const fastify = [['fastify', 'fastify-plugin', '@fastify/*'], 'A service knows nothing of HTTP.']
const routes = [['**/routes/**'], 'Nothing imports routes but routes/index.ts.']
const plugins = [['**/plugins/**'], 'A plugin is reached through its decorator.']
const children = [['node:child_process', 'child_process'], 'services/process/spawn-isolated.ts starts children without our open files.']

const SYNTAX = [{
  selector: "MemberExpression[property.name='pathname'] > NewExpression[arguments.1.object.type='MetaProperty']",
  message: 'A pathname keeps %20 and begins with /C:/ on Windows: use fileURLToPath.'
}]

// Sources, as against tests, whose stories are long, and what is generated.
const SOURCES = ['acp', 'bench', 'bin', 'client', 'console', 'eval', 'plugins', 'routes', 'schemas', 'scripts', 'services', 'supervisor',
  'workers'].flatMap((folder) => [`${folder}/**/*.ts`, `${folder}/**/*.tsx`])
// A name says what a thing is: a newcomer cannot search for these.
const UNWANTED_NAMES = ['fits', 'given', 'said', 'shown', 'teach', 'told']

export default [
  ...neostandard({ ts: true, ignores: ['dist/**', '.tap/**', 'client/generated/**', 'bench/results/**'] }),
  { rules: { 'no-void': 'off', 'no-restricted-syntax': ['error', ...SYNTAX] } },
  forbid(['schemas/**/*.ts'], [fastify, routes, plugins, [['**/services/**'], 'Schemas import schemas only.']]),
  forbid(['services/**/*.ts'], [fastify, routes, plugins, children]),
  forbid(['services/process/*.ts'], [fastify, routes, plugins]),
  {
    plugins: { local: { rules: { 'closed-iterators': closedIterators, 'service-imports': serviceImports, 'whole-names': wholeNames } } }
  },
  { files: ['services/**/*.ts', 'plugins/**/*.ts', 'routes/**/*.ts'], rules: { 'local/closed-iterators': 'error' } },
  {
    files: ['services/**/*.ts'],
    rules: { 'local/service-imports': 'error' }
  },
  forbid(['services/runs/engine/*.ts'], [
    fastify,
    routes,
    plugins,
    children,
    [['**/agent/**', '**/tasks/**'], 'Conversations and tasks call the engine, not the other way.']
  ]),
  forbid(['plugins/**/*.ts'], [routes]),
  forbid(['routes/**/*.ts'], [plugins, [['**/services/**'], 'Routes reach services through decorators.']]),
  {
    files: ['services/**/*.ts', 'plugins/**/*.ts'],
    ignores: ['services/lib/clock.ts', 'services/lib/deadline.ts'],
    rules: {
      'no-restricted-syntax': ['error', ...SYNTAX, {
        selector: "MemberExpression[property.name='timeout']" +
          ":matches([object.name=/clock$|^AbortSignal$/i], [object.property.name='clock'])",
        message: 'Time limits come from services/lib/deadline.ts.'
      }]
    }
  },
  {
    files: ['services/**/*.ts'],
    // The pool of threads belongs to the process, not to a service.
    ignores: ['services/lib/clock.ts', 'services/process/thread-pool.ts'],
    rules: {
      'no-restricted-properties': ['error', { object: 'Date', property: 'now', message: 'Time comes from the clock.' }],
      'no-restricted-globals': ['error', { name: 'setTimeout', message: 'Time comes from the clock.' }, {
        name: 'setInterval',
        message: 'Time comes from the clock.'
      }]
    }
  },
  {
    files: ['**/*.ts', '**/*.js', '**/*.tsx'],
    // The cases are data: sentences as they were said.
    ignores: ['client/generated/**', 'test/services/*/cases/**'],
    rules: {
      'max-len': ['error', { code: 140 }]
    }
  },
  {
    // Violations of before these rules are listed in scripts/lint/exceptions.json, which may only become shorter.
    files: [...SOURCES, 'app.ts', 'server.ts', 'settings.ts'],
    ignores: ['client/generated/**'],
    rules: {
      'max-lines': ['error', { max: 400 }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', { max: 5 }],
      'id-denylist': ['error', ...UNWANTED_NAMES]
    }
  },
  {
    files: [...SOURCES],
    ignores: ['client/generated/**'],
    rules: { 'local/whole-names': 'error' }
  }
]
