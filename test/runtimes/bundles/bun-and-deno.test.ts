import { join } from 'node:path'
import { describeApi } from '../../conformance/api.ts'
import { haveBundles } from '../../support/bundles.ts'
import { bin, DENO_PERMISSIONS, processOf } from '../../support/entries.ts'

describeApi('Bun, bundled', async (env) => processOf(bin('bun'), join(await haveBundles(), 'bun.js'))(env))
describeApi('Deno, bundled', async (env) => processOf(bin('deno'), 'run', ...DENO_PERMISSIONS, join(await haveBundles(), 'deno.js'))(env), [
  'closing-connections',
])
