import { expect, test } from 'vitest'
import { methodsOfClient, PLACES } from '../../../dev/docs/temporal-client.ts'

test("docs: each method of Temporal's client has a row, and each row a method", () => {
  const declared = [...methodsOfClient()].flatMap(([type, methods]) => methods.map((method) => `${type}.${method}`))
  const rows = Object.entries(PLACES).flatMap(([type, places]) =>
    Object.keys(places).map((method) => `${type}.${method}`),
  )

  expect(declared.length).toBeGreaterThan(60)
  expect(rows.toSorted()).toEqual(declared.toSorted())
})
