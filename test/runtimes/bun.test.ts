import { join } from 'node:path'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { bin } from '../../dev/servers/runtimes.ts'
import { describeApi } from '../conformance/api.ts'
import { describeFiles } from '../conformance/files.ts'
import { processOf } from '../support/entries.ts'

describeApi('Bun', async (env) => processOf(bin('bun'), join(await ensureBundles(), 'bun.js'))(env), ['dot-segments'])
describeFiles('Bun', () => processOf(bin('bun'), 'src/service/runtime/bun.ts'))
