/** Compares what programs depend on with the last release: `docs/stability.md`. */
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { compareSurfaces, readReleased } from '../../baselines/compare.ts'
import { unannounced, verdictOf } from '../../baselines/differences.ts'
import { surface } from '../../baselines/surface.ts'

test('baselines: the changelog announces each difference to the last release that breaks programs', async () => {
  const changelog = await readFile(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8')
  const differences = await compareSurfaces(await readReleased(), await surface())

  for (const difference of differences) console.info(verdictOf(difference))
  expect(unannounced(differences, changelog), 'docs/stability.md#the-test says what to do').toEqual([])
})
