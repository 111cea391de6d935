import { test } from 'vitest'
import { record } from './record.ts'

/** A test that proves a rule of `docs/api.md`. */
export function rule(id: string, prove: () => Promise<void>, timeoutMs?: number): void {
  test(
    id,
    async () => {
      await prove()
      record('rules', { id })
    },
    timeoutMs,
  )
}
