/** Three requests to paste, each a line. */
export function firstSteps(url: string, { withToken }: { withToken: boolean }): string {
  // The token itself is not for a terminal's scrollback: the shell that pastes has to know it.
  const curl = withToken ? `curl -sS -H "Authorization: Bearer \${SERVICE_API_AUTH_TOKEN%%,*}"` : 'curl -sS'
  const post = (path: string, body: unknown) =>
    `${curl} ${url}${path} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`
  const order = { workflowName: 'order', workflowId: 'order-1', input: { orderId: '1', amount: 40, card: '4242' } }
  const steps = [
    [
      'Run a workflow and wait for its result:',
      post('/workflow/run', { workflowName: 'greet', input: { name: 'Ada' } }),
    ],
    ['Start one, then ask how it is:', `${post('/workflow/start', order)} && ${curl} ${url}/workflow/order-1/status`],
    ['See which workflows there are:', `${curl} ${url}/workflow/catalog`],
  ]
  return [
    '',
    `Ready on ${url}. Try, in another terminal:`,
    ...steps.flatMap(([what, line]) => ['', `  ${what}`, `  ${line}`]),
    '',
  ].join('\n')
}
