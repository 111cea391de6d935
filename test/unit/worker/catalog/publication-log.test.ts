import { expect, test } from 'vitest'
import { publicationLog } from '../../../../src/worker/catalog/next-step.ts'
import type { Publication } from '../../../../src/worker/catalog/publish-catalog.ts'

const FEWER = { hash: 'fewer', version: null, missingNames: ['greet'], additionalNames: [] }
const MORE = { hash: 'more', version: null, missingNames: [], additionalNames: ['pay'] }

const PUBLISHED = publication('published')
const UNCHANGED = publication('unchanged')

test.each<[string, Publication, Publication | null, string | null]>([
  ['the first catalog of a task queue', PUBLISHED, null, 'info: Catalog published'],
  ['a catalog that was lost', PUBLISHED, UNCHANGED, 'warn: Catalog was missing and has been published again'],
  ['a replaced catalog', publication('published', FEWER), null, "info: Catalog published, replacing another worker's"],
  [
    'a replaced catalog with more names',
    publication('published', MORE),
    UNCHANGED,
    "warn: Catalog published, replacing another worker's: names are lost (pay)",
  ],
  ['a catalog that another worker has published', UNCHANGED, null, 'info: Catalog is already published'],
  ['an unchanged catalog', UNCHANGED, PUBLISHED, null],
  [
    'a catalog whose publisher is gone',
    publication('renewed'),
    UNCHANGED,
    'info: Catalog published again: the worker that had published it is gone',
  ],
  [
    'the catalog of a version that receives no new workflows',
    publication('skipped', MORE),
    null,
    'info: Catalog not published: new workflows are routed to another version',
  ],
  ['the same catalog of another version', publication('skipped', MORE), publication('skipped', MORE), null],
  [
    'another catalog of another version',
    publication('skipped', FEWER),
    publication('skipped', MORE),
    'info: Catalog not published: new workflows are routed to another version',
  ],
  [
    'a catalog that replaced it',
    publication('skipped', MORE),
    PUBLISHED,
    "info: Catalog was replaced by another worker's",
  ],
  [
    'a catalog with fewer names that replaced it',
    publication('skipped', FEWER),
    UNCHANGED,
    "warn: Catalog was replaced by another worker's: names are lost (greet)",
  ],
  [
    'a lost catalog of a version that receives no new workflows',
    publication('skipped'),
    PUBLISHED,
    "info: Catalog was replaced by another worker's",
  ],
])('publicationLog: %s', (_case, now, last, expected) => {
  const log = publicationLog(now, last)

  const lost = log?.fields.lost === undefined ? '' : ` (${log.fields.lost})`
  expect(log && `${log.level}: ${log.message}${lost}`).toBe(expected)
})

test('publicationLog: names the hash and the version of both catalogs', () => {
  const version = { deploymentName: 'shop', buildId: 'v2' }

  const log = publicationLog(publication('skipped', { ...MORE, version }), null)

  expect(log?.fields).toEqual({ hash: 'own', otherHash: 'more', otherVersion: version })
})

function publication(state: Publication['state'], other: Publication['other'] = null): Publication {
  return { state, hash: 'own', other, watch: null }
}
