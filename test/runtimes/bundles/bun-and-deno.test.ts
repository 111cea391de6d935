import { join } from 'node:path'
import { haveBundles } from '../../../dev/servers/bundles.ts'
import { bin, DENO_PERMISSIONS, processOf } from '../../../dev/servers/entries.ts'
import { describeApi } from '../../conformance/api.ts'

describeApi('Bun, bundled', async (env) => processOf(bin('bun'), join(await haveBundles(), 'bun.js'))(env))
describeApi(
  'Deno, bundled',
  async (env) => processOf(bin('deno'), 'run', ...DENO_PERMISSIONS, join(await haveBundles(), 'deno.js'))(env),
  ['closing-connections'],
)
