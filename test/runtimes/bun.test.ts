import { bin, processOf } from '../../dev/servers/entries.ts'
import { describeApi } from '../conformance/api.ts'
import { describeFiles } from '../conformance/files.ts'

describeApi('Bun', processOf(bin('bun'), 'src/runtime/bun.ts'))
describeFiles('Bun', () => processOf(bin('bun'), 'src/runtime/bun.ts'))
