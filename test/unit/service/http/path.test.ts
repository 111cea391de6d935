import type { Result } from 'hono/router'
import { TrieRouter } from 'hono/router/trie-router'
import { expect, test } from 'vitest'
import { createRouter } from '../../../../src/service/http/path.ts'
import { makeApi } from './api.ts'

const METHODS = ['GET', 'POST', 'PATCH', 'DELETE']

// Path segments that may be an id, a run id, a name or an update id.
const VALUES = ['w', 'a.b:c', '%2F', 'é', 'start', 'run', 'catalog', 'runs', 'count', 'status', 'signal-with-start', '']

test('createRouter: finds the same routes with the same parameters as a trie alone', () => {
  const { routes } = makeApi()
  const [router, trie] = [createRouter<string>(), new TrieRouter<string>()]
  for (const { method, path } of routes) {
    router.add(method, path, `${method} ${path}`)
    trie.add(method, path, `${method} ${path}`)
  }
  const paths = routes.flatMap(({ path }) => VALUES.map((value) => path.replaceAll(/:\w+/g, value)))
  const requests = [...paths, ...paths.map((path) => `${path}/`), '/', '/nope', '/workflow', '/workflow/w'].flatMap(
    (path) => METHODS.map((method) => [method, path] as const),
  )

  const found = requests.map(([method, path]) => [method, path, routesIn(router.match(method, path))])

  expect(found.filter(([, , matched]) => matched?.length).length).toBeGreaterThan(500)
  expect(found).toEqual(requests.map(([method, path]) => [method, path, routesIn(trie.match(method, path))]))
})

/** The routes that match, each with its parameters, which routers return in two forms. */
function routesIn([matches, values = []]: Result<string>): unknown[] {
  return matches.map(([route, params]) => [
    route,
    Object.fromEntries(
      Object.entries(params).map(([name, value]) => [name, typeof value === 'number' ? values[value] : value]),
    ),
  ])
}
