import { describeApi } from '../conformance/api.ts'
import { bin, DENO_PERMISSIONS, processOf } from '../support/entries.ts'

describeApi('Deno', processOf(bin('deno'), 'run', ...DENO_PERMISSIONS, 'src/runtime/deno.ts'), ['closing-connections'])
