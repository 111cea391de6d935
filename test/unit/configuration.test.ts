import { expect, test } from 'vitest'
import { parseWorkerConfig } from '../../src/shared/config/worker.ts'
import { type Environment, parseConfig } from '../../src/shared/config.ts'
import { filesIn, textOf } from '../support/repository.ts'

const documented = [...textOf('docs/configuration.md').matchAll(/^\| `((?:ENGINE|SERVICE)_\w+)`/gm)].map(
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
    ...filesIn('deploy', '').filter((path) => /\.\w+$/.test(path)),
  ]
  const named = files.flatMap((file) =>
    [...textOf(file).matchAll(/\b(?:ENGINE|SERVICE)_\w+/g)].map(([name]) => ({ file, name })),
  )

  expect(named).toContainEqual({ file: 'compose.yaml', name: 'SERVICE_KVSTORE_URL' })
  expect(named.filter(({ name }) => !documented.includes(name))).toEqual([])
})

// Null means that of Node's server: elsewhere the variable causes a warning.
const OF_THE_SERVER = 'SERVICE_IDLE_TIMEOUT'

test('docs/configuration.md: each default is the value without the variable', () => {
  const rows = [
    ...textOf('docs/configuration.md').matchAll(/^\| `((?:ENGINE|SERVICE)_\w+)` \| `([^`]+)`(?: \([^)|]*\))? \|/gm),
  ]
  const configOf = (env: Environment) => {
    const all = { SERVICE_CATALOG_ID: 'orders', ...env }
    return [parseConfig(all, { binds: true }), parseWorkerConfig(all, { catalogRequired: true })]
  }

  expect(rows.length).toBeGreaterThan(20)
  for (const [, name = '', value] of rows.filter(([, name]) => name !== OF_THE_SERVER))
    expect([name, configOf({ [name]: value })]).toEqual([name, configOf({})])
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
