import { expect, test } from 'vitest'
import { bind } from '../../../src/lib/bind.ts'

test('bind: each function gets the first argument, and its own ones after it', async () => {
  const { add, name } = bind(
    { offset: 10, label: 'x' },
    {
      add: ({ offset }: { offset: number }, one: number, other: number) => offset + one + other,
      name: async ({ label }: { label: string }) => label,
    },
  )

  expect([add(1, 2), await name()]).toEqual([13, 'x'])
})
