import { join } from 'node:path'
import { describeApi } from '../../conformance/api.ts'
import { haveBundles } from '../../support/bundles.ts'
import { haveNode22 } from '../../support/components.ts'
import { processOf } from '../../support/entries.ts'

describeApi('Node 22, bundled', async (env) => processOf(await haveNode22(), join(await haveBundles(), 'node.js'))(env))
describeApi('Node 24, bundled', async (env) => processOf(process.execPath, join(await haveBundles(), 'node.js'))(env))
