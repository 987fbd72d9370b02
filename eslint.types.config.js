// The rules that need types, and the errors of the type checker. eslint.config.js holds all others, which run beside these.
import tseslint from 'typescript-eslint'
import { typeErrors } from './scripts/lint/type-errors.ts'

export default [
  { ignores: ['dist/**', '.tap/**', 'bench/results/**', 'console/vite.config.ts'] },
  {
    files: ['**/*.ts', 'console/**/*.tsx', 'examples/**/*.tsx'],
    linterOptions: { reportUnusedDisableDirectives: 'off' },
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: {
        project: ['./tsconfig.json', './examples/tsconfig.json', './console/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname
      }
    },
    plugins: { local: { rules: { 'type-errors': typeErrors } } },
    rules: { 'local/type-errors': 'error' }
  },
  { files: ['client/generated/**'], linterOptions: { noInlineConfig: true } },
  {
    // A test that tap runs is a promise that tap itself awaits.
    files: ['**/*.ts', 'console/**/*.tsx'],
    ignores: ['client/generated/**'],
    plugins: { typed: tseslint.plugin },
    rules: {
      'typed/no-floating-promises': ['error', {
        allowForKnownSafePromises: [{ from: 'package', package: '@tapjs/core', name: 'PromiseWithSubtest' }]
      }],
      'typed/no-misused-promises': 'error',
      'typed/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }]
    }
  },
  {
    // Their servers take handlers that await.
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: { 'typed/no-misused-promises': ['error', { checksVoidReturn: false }] }
  }
]
