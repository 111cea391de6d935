import { describeApi } from '../conformance/api.ts'
import { bin, processOf } from '../support/entries.ts'

describeApi('Bun', processOf(bin('bun'), 'src/runtime/bun.ts'))
