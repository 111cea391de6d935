/** `npm run soak` for two minutes: what clients saw is what the engine's histories say. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { startProcess } from '../../dev/servers/process.ts'
import { test } from '../../test/support/fixtures.ts'

const MAIN = fileURLToPath(new URL('../soak/main.ts', import.meta.url))
// So that a failure in CI can be repeated.
const SEED = 20_261_123

test('soak: clients saw what happened, while messages were lost on both sides of the service', async ({ folder }) => {
  const { SOAK_MINUTES = '2', SOAK_SEED = String(SEED) } = process.env
  // A busy machine gets less done in two minutes.
  const soak = await startProcess({
    command: process.execPath,
    args: [MAIN],
    env: { ...process.env, SOAK_MINUTES, SOAK_SEED, SOAK_REPORT: folder, SOAK_OPERATIONS: '500', SOAK_GROWTH: 'false' },
  })

  await soak.ended

  const report: { violations: unknown[]; operations: { acknowledged: number }[] } = JSON.parse(
    await readFile(join(folder, `report-${SOAK_SEED}.json`), 'utf8').catch(() => {
      throw new Error(soak.output())
    }),
  )
  expect(report.violations).toEqual([])
  // Otherwise nothing was compared.
  expect(report.operations.reduce((sum, { acknowledged }) => sum + acknowledged, 0)).toBeGreaterThan(100)
})
