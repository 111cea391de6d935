import { join } from 'node:path'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { ensureNode22 } from '../../dev/servers/components.ts'
import { describeApi } from '../../test/conformance/api.ts'
import { processOf } from '../../test/support/entries.ts'

// The oldest supported Node, with what `npm run build` makes. node.test.ts runs the sources on the newest.
describeApi('Node 22', async (env) => processOf(await ensureNode22(), join(await ensureBundles(), 'node.js'))(env))
