import { expect, test } from 'vitest'
import { packedFile } from '../../../../src/service/fronts/packed-file.ts'
import { type Assets, isAssets, readPageFileFrom } from '../../../../src/service/fronts/page-assets.ts'

const PAGE = packedFile('page.html', '<html>')

/** Responds to `path` with the page, to every other path with `notFound`, and records the requested paths. */
function assetsWith(path: string, notFound: () => Response): Assets & { paths: string[] } {
  const paths: string[] = []
  return {
    paths,
    async fetch(url) {
      paths.push(new URL(url).pathname)
      return new URL(url).pathname === path ? Response.json(PAGE) : notFound()
    },
  }
}

test('assets: a file is read from its JSON', async () => {
  const read = readPageFileFrom(assetsWith('/docs-page/page.html.json', Response.error), 'docs-page')

  expect(await read('page.html')).toEqual(PAGE)
})

test('assets: a missing file is null, also if the assets respond with a page of their own', async () => {
  const missing = [
    () => new Response('Not found', { status: 404 }),
    () => new Response('<html>', { headers: { 'Content-Type': 'text/html; charset=utf-8' } }),
  ]

  expect(
    await Promise.all(missing.map((notFound) => readPageFileFrom(assetsWith('/', notFound), 'docs-page')('page.html'))),
  ).toEqual([null, null])
})

test('assets: no name leads out of the folder (threat 62)', async () => {
  const assets = assetsWith('/', () => new Response(null, { status: 404 }))
  const names = ['../secret', 'a/b', '..\\secret', '%2e%2e%2fsecret', '?', '#', '', '.', '..', 'page.css']

  await Promise.all(names.map(readPageFileFrom(assets, 'docs-page')))

  expect(assets.paths.toSorted()).toEqual(['/docs-page/...json', '/docs-page/..json', '/docs-page/page.css.json'])
})

test('assets: a binding of another kind is ignored', () => {
  expect([undefined, null, 'text', 7, {}, { fetch: 'text' }].filter(isAssets)).toEqual([])
})
