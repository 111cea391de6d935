import { join } from 'node:path'
import { haveBundles } from '../../../dev/servers/bundles.ts'
import { bin, DENO_PERMISSIONS } from '../../../dev/servers/runtimes.ts'
import { describeApi } from '../../conformance/api.ts'
import { processOf } from '../../support/entries.ts'

describeApi('Bun, bundled', async (env) => processOf(bin('bun'), join(await haveBundles(), 'bun.js'))(env))
describeApi(
  'Deno, bundled',
  async (env) => processOf(bin('deno'), 'run', ...DENO_PERMISSIONS, join(await haveBundles(), 'deno.js'))(env),
  ['closing-connections'],
)
