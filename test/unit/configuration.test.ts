import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseWorkerConfig } from '../../src/config/worker.ts'
import { type Environment, parseConfig } from '../../src/config.ts'

const ROOT = new URL('../../', import.meta.url)

const documented = [...read('docs/configuration.md').matchAll(/^\| `((?:ENGINE|SERVICE)_\w+)`/gm)].map(
  ([, name = '']) => name,
)

test('docs/configuration.md: lists each variable that is read, once, and no other', () => {
  const names = variablesOf((env) => {
    parseConfig(env, { binds: true })
    parseWorkerConfig(env, { catalogRequired: true })
  })

  expect(documented.toSorted()).toEqual([...names].toSorted())
})

test('docs/configuration.md: lists each variable that a deployment sets', () => {
  const files = [
    'Dockerfile',
    'compose.yaml',
    'wrangler.toml',
    ...readdirSync(new URL('deploy', ROOT), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.\w+$/.test(path))
      .map((path) => `deploy/${path}`),
  ]
  const named = files.flatMap((file) =>
    [...read(file).matchAll(/\b(?:ENGINE|SERVICE)_\w+/g)].map(([name]) => ({ file, name })),
  )

  expect(named).toContainEqual({ file: 'compose.yaml', name: 'SERVICE_KVSTORE_URL' })
  expect(named.filter(({ name }) => !documented.includes(name))).toEqual([])
})

/** The variables that `parse` reads when only the catalog is set. */
function variablesOf(parse: (env: Environment) => void): Set<string> {
  const names = new Set<string>()
  parse(
    new Proxy<Environment>(
      {},
      {
        get(_, name) {
          names.add(String(name))
          return name === 'SERVICE_CATALOG_ID' ? 'orders' : undefined
        },
      },
    ),
  )
  return names
}

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8')
}
