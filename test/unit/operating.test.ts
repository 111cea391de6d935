import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseWorkerConfig } from '../../src/config/worker.ts'
import { type Environment, parseConfig } from '../../src/config.ts'

describe('docs/operating.md', () => {
  test('docs/operating.md: lists each variable that is read, once, and no other', () => {
    const documented = [...read('docs/operating.md').matchAll(/^\| `((?:ENGINE|SERVICE)_\w+)`/gm)].map((match) => match[1])

    const asked = variablesOf((env) => {
      parseConfig(env, { binds: true })
      parseWorkerConfig(env, { catalogRequired: true })
    })

    expect(documented.toSorted()).toEqual([...asked].toSorted())
  })
})

/** Each variable that `parse` looks at in an environment where only the catalog is set. */
function variablesOf(parse: (env: Environment) => void): Set<string> {
  const asked = new Set<string>()
  parse(
    new Proxy<Environment>(
      {},
      {
        get(_, name) {
          asked.add(String(name))
          return name === 'SERVICE_CATALOG_ID' ? 'orders' : undefined
        },
      },
    ),
  )
  return asked
}

function read(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
}
