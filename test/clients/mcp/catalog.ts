import * as z from 'zod'
import { defineCatalog } from '../../../src/worker/catalog/define-catalog.ts'
import type * as workflows from './workflows.ts'

export const catalog = defineCatalog<typeof workflows>({
  greet: {
    description: 'Greets somebody by name.',
    input: z.object({ name: z.string() }),
    output: z.string(),
  },
  slow_compute: {
    description: 'Sleeps, and returns a result.',
    input: z.object({ seconds: z.number().min(0), label: z.string().optional() }),
    output: z.string(),
  },
  failing_job: { input: z.object({}) },
  protocol_error_job: { input: z.object({}) },
  confirm_delete: { input: z.object({}) },
  multi_input: { input: z.object({}) },
  test_simple_text: { input: z.object({}), output: z.string() },
  test_logging_tool: { input: z.object({}) },
  test_streaming_elicitation: { input: z.object({}) },
  test_error_handling: { input: z.object({}) },
  test_tool_with_progress: { input: z.object({}) },
})
