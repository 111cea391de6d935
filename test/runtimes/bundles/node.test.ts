import { join } from 'node:path'
import { haveBundles } from '../../../dev/servers/bundles.ts'
import { haveNode22 } from '../../../dev/servers/components.ts'
import { describeApi } from '../../conformance/api.ts'
import { processOf } from '../../support/entries.ts'

describeApi('Node 22, bundled', async (env) => processOf(await haveNode22(), join(await haveBundles(), 'node.js'))(env))
describeApi('Node 24, bundled', async (env) => processOf(process.execPath, join(await haveBundles(), 'node.js'))(env))
