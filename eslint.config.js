import neostandard from 'neostandard'

// The arrows of the house: schemas <- services <- plugins; routes reach services through decorators only.
const forbid = (files, patterns) => ({
  files,
  rules: {
    'no-restricted-imports': ['error', { patterns: patterns.map(([group, message]) => ({ group, message })) }]
  }
})
const fastify = [['fastify', 'fastify-plugin', '@fastify/*', '!@fastify/error'], 'A service knows nothing of HTTP.']
const routes = [['**/routes/**'], 'Nothing imports routes but routes/index.ts.']
const plugins = [['**/plugins/**'], 'A plugin is reached through its decorator.']
const children = [['node:child_process', 'child_process'], 'services/process/spawn-isolated.ts starts children without our open files.']

export default [
  ...neostandard({ ts: true, ignores: ['dist/**', '.tap/**', 'client/generated/**', 'bench/results/**'] }),
  {
    rules: {
      'no-restricted-syntax': ['error', {
        selector: "MemberExpression[property.name='pathname'] > NewExpression[arguments.1.object.type='MetaProperty']",
        message: 'A pathname keeps %20 and begins with /C:/ on Windows: use fileURLToPath.'
      }]
    }
  },
  forbid(['schemas/**/*.ts'], [fastify, routes, plugins, [['**/services/**'], 'Schemas import schemas only.']]),
  forbid(['services/**/*.ts'], [fastify, routes, plugins, children]),
  forbid(['services/process/*.ts'], [fastify, routes, plugins]),
  forbid(['plugins/**/*.ts'], [routes]),
  forbid(['routes/**/*.ts'], [plugins, [['**/services/**'], 'Routes reach services through decorators.']]),
  {
    files: ['services/**/*.ts'],
    ignores: ['services/lib/clock.ts', 'services/lib/process-stops.ts'],
    rules: {
      'no-restricted-properties': ['error', { object: 'Date', property: 'now', message: 'Time comes from the clock.' }],
      'no-restricted-globals': ['error', { name: 'setTimeout', message: 'Time comes from the clock.' }, {
        name: 'setInterval',
        message: 'Time comes from the clock.'
      }]
    }
  }
]
