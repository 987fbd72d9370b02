import { createRequire } from 'node:module'
import type { Plugin } from 'esbuild'

const require = createRequire(import.meta.url)

/**
 * Modules that others import at start-up and use, if at all, when the first requests come. In the bundle they are run
 * at their first use: each stands behind getters for what it exports.
 */
const LATE = ['ajv', '@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'fast-json-stringify', 'node:https', 'node:http2']

const NAMESPACE = 'late'

/** Makes LATE modules late, and bundles all of LevelDB but its native part. */
export const late: Plugin = {
  name: NAMESPACE,
  setup (build) {
    build.onResolve({ filter: new RegExp(`^(${LATE.join('|')})$`) }, ({ path, namespace }) => {
      if (namespace !== NAMESPACE) return { path, namespace: NAMESPACE }
      return path.startsWith('node:') ? { path, external: true } : undefined
    })
    build.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({ contents: standIn(path), resolveDir: import.meta.dirname }))
    build.onResolve(
      { filter: /^\.\/binding$/ },
      ({ importer }) => importer.includes('classic-level') ? { path: 'classic-level/binding.js', external: true } : undefined
    )
  }
}

function standIn (path: string): string {
  const real = require(path)
  const taken = ['length', 'name', 'prototype', 'arguments', 'caller']
  const names = Object.getOwnPropertyNames(real).filter((name) => name !== '__esModule' && !taken.includes(name))
  return [
    'let loaded',
    `const real = () => loaded ??= require(${JSON.stringify(path)})`,
    typeof real === 'function' ? 'module.exports = function (...args) { return new.target ? new (real())(...args) : real()(...args) }' : '',
    real.__esModule ? 'Object.defineProperty(module.exports, "__esModule", { value: true })' : '',
    `for (const name of ${
      JSON.stringify(names)
    }) Object.defineProperty(module.exports, name, { get: () => real()[name], enumerable: true })`
  ].join('\n')
}
