import { expect, test } from 'vitest'
import type { WorkerVersion } from '../../../../src/shared/wire/worker-version.ts'
import { type Routing, shouldPublish } from '../../../../src/worker/catalog/should-publish.ts'

const UNVERSIONED = null
const V1 = { deploymentName: 'shop', buildId: 'v1' }
const V2 = { deploymentName: 'shop', buildId: 'v2' }
const OF_ANOTHER = { deploymentName: 'shop-next', buildId: 'v1' }

const NONE_CURRENT: Routing = { current: null, ramping: undefined }
const V1_CURRENT: Routing = { current: V1, ramping: undefined }
const V1_CURRENT_V2_RAMPING: Routing = { current: V1, ramping: V2 }
const V1_CURRENT_UNVERSIONED_RAMPING: Routing = { current: V1, ramping: null }

test('shouldPublish: with nothing published, a version that receives new workflows publishes, or any version if none is current', () => {
  const missing = (own: WorkerVersion | null, routing: Routing) => shouldPublish(own, null, routing, false)

  expect([V1, V2, UNVERSIONED].map((own) => missing(own, NONE_CURRENT))).toEqual([true, true, true])
  expect([V1, V2, UNVERSIONED].map((own) => missing(own, V1_CURRENT))).toEqual([true, false, false])
  expect([V1, V2, UNVERSIONED].map((own) => missing(own, V1_CURRENT_V2_RAMPING))).toEqual([true, true, false])
})

test('shouldPublish: a version that receives new workflows replaces the catalog of one that does not, also after its start', () => {
  expect(replaces(V1, UNVERSIONED, V1_CURRENT)).toBe(true)
  expect(replaces(V1, V2, V1_CURRENT)).toBe(true)
  expect(replaces(V1, OF_ANOTHER, V1_CURRENT)).toBe(true)
  expect(replaces(UNVERSIONED, V1, NONE_CURRENT)).toBe(true)
})

test('shouldPublish: a version that receives no new workflows replaces nothing, even at its start', () => {
  expect(replaces(V2, V1, V1_CURRENT, true)).toBe(false)
  expect(replaces(UNVERSIONED, V1, V1_CURRENT, true)).toBe(false)
  expect(replaces(V1, UNVERSIONED, NONE_CURRENT, true)).toBe(false)
  expect(replaces(V2, V1, NONE_CURRENT, true)).toBe(false)
})

test('shouldPublish: a ramping version takes precedence over the current one', () => {
  expect(replaces(V2, V1, V1_CURRENT_V2_RAMPING)).toBe(true)
  expect(replaces(V1, V2, V1_CURRENT_V2_RAMPING, true)).toBe(false)
  expect(replaces(UNVERSIONED, V1, V1_CURRENT_UNVERSIONED_RAMPING)).toBe(true)
})

test('shouldPublish: among workers of one version, the last one to start wins', () => {
  expect([true, false].map((starts) => replaces(V1, V1, V1_CURRENT, starts))).toEqual([true, false])
  expect([true, false].map((starts) => replaces(UNVERSIONED, UNVERSIONED, NONE_CURRENT, starts))).toEqual([true, false])
})

test("shouldPublish: two running workers never replace each other's catalogs in turn", () => {
  const versions = [UNVERSIONED, V1, V2, OF_ANOTHER]
  const routings = [NONE_CURRENT, V1_CURRENT, V1_CURRENT_V2_RAMPING, V1_CURRENT_UNVERSIONED_RAMPING]
  const inTurn = routings.flatMap((routing) =>
    versions.flatMap((one) =>
      versions.filter((other) => replaces(one, other, routing) && replaces(other, one, routing)),
    ),
  )

  expect(inTurn).toEqual([])
})

function replaces(
  own: WorkerVersion | null,
  published: WorkerVersion | null,
  routing: Routing,
  starts = false,
): boolean {
  return shouldPublish(own, { version: published }, routing, starts)
}
