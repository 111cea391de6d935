import { expect, test } from 'vitest'
import { parseWorkerConfig } from '../../src/config/worker.ts'
import { type Environment, parseConfig } from '../../src/config.ts'
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
