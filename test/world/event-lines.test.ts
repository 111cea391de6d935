/** Readers of lines also end a line at U+2028, U+2029 and U+0085. */
import { expect } from 'vitest'
import { test } from './fixtures.ts'
import { runPython } from './programs.ts'
import { PYTHON_CLIENTS, PYTHON_LIBRARIES } from './stacks.ts'

test.for(PYTHON_LIBRARIES)(
  '%s: its lines of an event stream are whole, whatever the values have',
  async (library, { counted }) => {
    const text = 'one\u2028two\u2029three\u0085four'
    const body = JSON.stringify({ workflowName: 'echo', input: { text } })

    const { last } = await runPython('lines.py', PYTHON_CLIENTS, [library, `${counted.url}/workflow/run`, body])

    expect(last).toMatchObject({ status: 'completed', output: { text } })
  },
)
