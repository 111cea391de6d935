import { expect, test } from 'vitest'
import { renderExplanation } from '../../../../src/cli/output/run.ts'
import { running } from '../../service/http/api.ts'

test('renderExplanation: says since when each reason holds', () => {
  const since = '2026-11-21T02:55:53.503Z'
  const facts = { status: 'failed', action: null } as const
  const reasons = [
    { kind: 'closed', since, advice: 'get the result', ...facts },
    { kind: 'closed', since: null, advice: 'read it', ...facts },
  ] as const

  const lines = renderExplanation({
    workflowId: 'w',
    runId: 'r',
    verdict: 'closed',
    since,
    reasons: [...reasons],
    run: { ...running, startedAt: null },
  }).split('\n')

  expect(lines.map((line) => line.replaceAll(/\d[\d:. -]*UTC/g, '<time>'))).toEqual([
    'closed since <time>',
    '- closed since <time>: get the result',
    '- closed: read it',
  ])
})
