import { expect, test } from 'vitest'
import { fillTemplate, isTraceTemplate } from '../../../../../src/shared/wire/trace/template.ts'

const RUN_ID = '0198c1d0-0000-7000-8000-000000000000'

function filled(namespace: string, template = '{namespace}'): string {
  return fillTemplate(template, { namespace, runId: RUN_ID })
}

test('fillTemplate: replaces every occurrence of both placeholders', () => {
  expect(filled('default', 'https://b/{namespace}/{runId}/{namespace}.json')).toBe(
    `https://b/default/${RUN_ID}/default.json`,
  )
})

test('fillTemplate: leaves other braces unchanged', () => {
  expect(filled('a', '{rootRunId}{}{Namespace}{namespace')).toBe('{rootRunId}{}{Namespace}{namespace')
})

test('fillTemplate: percent-encodes everything but letters, digits and -._~', () => {
  expect(filled("a/b c?d#e%f!'()*é~-._")).toBe('a%2Fb%20c%3Fd%23e%25f%21%27%28%29%2A%C3%A9~-._')
})

test('fillTemplate: replacement patterns in a value have no effect', () => {
  expect(filled("$&$1$`$'$$")).toBe('%24%26%241%24%60%24%27%24%24')
})

test('fillTemplate: a value that looks like a placeholder is not replaced', () => {
  expect(filled('{runId}')).toBe('%7BrunId%7D')
})

test('isTraceTemplate: requires both placeholders, so that every run has its own object', () => {
  const verdicts = ['{namespace}/{runId}', '{runId}', '{namespace}', ''].map(isTraceTemplate)
  expect(verdicts).toEqual([true, false, false, false])
})
