import { join } from 'node:path'
import { describeLife } from '../conformance/life.ts'
import { haveBundles } from '../support/bundles.ts'
import { bin, DENO_PERMISSIONS, processOf, workerdOf } from '../support/entries.ts'

const own = { drains: true, noticesFin: true }

describeLife('Node', processOf(process.execPath, 'src/runtime/node.ts'), own)
describeLife('Bun', processOf(bin('bun'), 'src/runtime/bun.ts'), own)
describeLife('Deno', processOf(bin('deno'), 'run', ...DENO_PERMISSIONS, 'src/runtime/deno.ts'), own)
describeLife(
  'workerd',
  async (env) => workerdOf(join(await haveBundles(), 'workerd.js'))({ SERVICE_ALLOW_ANONYMOUS: 'true', ...env }),
  // Cloudflare lets requests end before it takes an isolate away.
  { drains: false, noticesFin: false },
)
