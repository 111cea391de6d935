import { expect, test } from 'vitest'
import { methodsOfClient, PLACES } from '../../../dev/docs/temporal-client.ts'
import { standaloneEndpoints } from '../../../src/service/http/endpoints/standalone-activities.ts'

test("docs: each method of Temporal's client has a row, and each row a method", () => {
  const declared = [...methodsOfClient()].flatMap(([type, methods]) => methods.map((method) => `${type}.${method}`))
  const rows = Object.entries(PLACES).flatMap(([type, places]) =>
    Object.keys(places).map((method) => `${type}.${method}`),
  )

  expect(declared.length).toBeGreaterThan(60)
  expect(rows.toSorted()).toEqual(declared.toSorted())
})

test('docs: each operation on activities without a workflow is in the row of a method', () => {
  const places = Object.values(PLACES).flatMap((places) => Object.values(places))
  const named = new Set(places.flatMap((place) => (typeof place === 'string' ? [] : place.operations)))

  expect(standaloneEndpoints.map(({ id }) => id).filter((id) => !named.has(id))).toEqual([])
})
