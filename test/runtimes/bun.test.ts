import { bin } from '../../dev/servers/runtimes.ts'
import { describeApi } from '../conformance/api.ts'
import { describeFiles } from '../conformance/files.ts'
import { processOf } from '../support/entries.ts'

describeApi('Bun', processOf(bin('bun'), 'src/runtime/bun.ts'))
describeFiles('Bun', () => processOf(bin('bun'), 'src/runtime/bun.ts'))
