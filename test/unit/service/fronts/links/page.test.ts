import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { PAGE_POLICY, renderPage } from '../../../../../src/service/fronts/links/page.ts'
import { STYLE, STYLE_HASH } from '../../../../../src/service/fronts/links/page-style.ts'

const link: NonNullable<Parameters<typeof renderPage>[0]> = {
  title: 'Refund?',
  workflowName: 'refund',
  choices: [
    { label: 'Approve', comment: 'none' },
    { label: 'Reject', comment: 'required', style: 'danger' },
    { label: '"Later" & <b>', comment: 'optional' },
  ],
  expiresAt: Date.parse('2026-03-05T10:00:00Z'),
}
const at = new Date('2026-03-02T10:15:30Z')

test('page of a link: its policy allows its style sheet and nothing else (threat 67)', () => {
  expect(STYLE_HASH).toBe(`sha256-${createHash('sha256').update(STYLE).digest('base64')}`)
  expect(PAGE_POLICY).toBe(`default-src 'none'; style-src '${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'`)
  expect(renderPage(link, { state: 'open' })).toContain(`<style>${STYLE}</style>`)
})

test('page of a link: has a form for each choice, with a comment where the choice takes one', () => {
  const page = renderPage(link, { state: 'open' })

  expect(page.match(/<form method="post">/g)).toHaveLength(3)
  expect(page.match(/<textarea [^>]*>/g)).toEqual([
    '<textarea id="comment-1" name="comment" maxlength="2000" required>',
    '<textarea id="comment-2" name="comment" maxlength="2000">',
  ])
  expect(page).toContain('<button name="choice" value="&quot;Later&quot; &amp; &lt;b&gt;">')
  expect(page).not.toContain('<b>')
})

test('page of a link: a dangerous choice has a style of its own, the others have none', () => {
  const buttons = renderPage(link, { state: 'open' }).match(/<button [^>]*>/g)

  expect(buttons?.map((button) => /class="danger"/.test(button))).toEqual([false, true, false])
})

test('page of a link: shows its details, whether it is open or answered, and none without details', () => {
  const details = [
    { label: 'Order', value: '17' },
    { label: 'Amount <b>', value: '120 € & "more"' },
  ]
  const views = [{ state: 'open' } as const, { state: 'answered', answer: { label: 'Approve', at } } as const]

  for (const view of views)
    expect(renderPage({ ...link, details }, view)).toContain(
      '<dl>\n<dt>Order</dt><dd>17</dd>\n<dt>Amount &lt;b&gt;</dt><dd>120 € &amp; &quot;more&quot;</dd>\n</dl>',
    )
  expect(renderPage(link, { state: 'open' })).not.toContain('<dl>')
  expect(renderPage({ ...link, details: [] }, { state: 'open' })).not.toContain('<dl>')
})

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]

test.each([
  [3 * DAY, 'in 3 days'],
  [3 * DAY - MINUTE, 'in 3 days'],
  [2 * DAY, 'in 2 days'],
  [DAY, 'in 24 hours'],
  [2 * HOUR, 'in 2 hours'],
  [119 * MINUTE, 'in 119 minutes'],
  [1, 'in 1 minute'],
])('page of a link: says how long is left: %s ms', (ms, text) => {
  const page = renderPage(link, { state: 'open' }, link.expiresAt - ms)

  expect(page).toContain(`GMT</time> (${text})</p>`)
})

test('page of a link: says what was recorded and when, with the result of an update', () => {
  const time = '<time datetime="2026-03-02T10:15:30.000Z">Mon, 02 Mar 2026 10:15:30 GMT</time>'

  expect(renderPage(link, { state: 'answered', answer: { label: 'Approve', at } })).toContain(
    `Already answered: <strong>Approve</strong>, ${time}`,
  )
  const recorded = renderPage(link, { state: 'recorded', used: { recorded: 'Approve', at, result: { paid: '<1>' } } })
  expect(recorded).toContain(`Recorded: <strong>Approve</strong>, ${time}`)
  expect(recorded).toContain('<pre>{\n  &quot;paid&quot;: &quot;&lt;1&gt;&quot;\n}</pre>')
  expect(recorded).not.toContain('<form')
})

test('page of a link: shows the forms again after an error that does not use the link up', () => {
  const failed = (error: Parameters<typeof renderPage>[1] & { state: 'failed' }) => renderPage(link, error)
  const rejected = failed({ state: 'failed', problem: { error: 'UpdateFailedError', message: 'too <late>' } })
  const used = failed({
    state: 'failed',
    problem: { error: 'LinkUsedError', message: '', recorded: 'Approve', at: at.toISOString() },
  })

  expect(rejected).toContain('Not accepted: too &lt;late&gt;')
  expect(rejected).toContain('<form')
  expect(used).toContain('Not recorded, because this link was used before.')
  expect(used).toContain('<strong>Approve</strong>, <time datetime="2026-03-02T10:15:30.000Z">')
  expect(used).not.toContain('<form')
})
