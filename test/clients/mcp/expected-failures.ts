// The checks that fail in both revisions.
const PROMPTS = [
  'prompts-list:prompts-list',
  'prompts-get-simple:prompts-get-simple',
  'prompts-get-with-args:prompts-get-with-args',
  'prompts-get-embedded-resource:prompts-get-embedded-resource',
  'prompts-get-with-image:prompts-get-with-image',
  'completion-complete:completion-complete',
]

const RESOURCES = [
  'resources-list:resources-list',
  'resources-read-text:resources-read-text',
  'resources-read-binary:resources-read-binary',
  'resources-templates-read:resources-templates-read',
]

const OTHER_CONTENT = [
  'tools-call-image:tools-call-image',
  'tools-call-audio:tools-call-audio',
  'tools-call-embedded-resource:tools-call-embedded-resource',
  'tools-call-mixed-content:tools-call-mixed-content',
]

/**
 * The checks of the conformance suite that fail, as `scenario:check`, below their reasons. Warnings are failures here.
 * Most need a tool, a prompt or a resource that the service does not offer by design (`docs/mcp.md`).
 */
export const EXPECTED_FAILURES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  '2026-07-28': {
    'There are no prompts: hosts show them to people, not to the model': [
      ...PROMPTS,
      'caching:sep-2549-prompts-list-caching-hints',
      'input-required-result-non-tool-request:sep-2322-non-tool-incomplete',
    ],
    'There are no resources: workflow_explain and the ids in results suffice': [
      ...RESOURCES,
      'caching:sep-2549-resources-list-caching-hints',
      'caching:sep-2549-resources-templates-list-caching-hints',
      'sep-2164-resource-not-found:sep-2164-error-code',
      'sep-2164-resource-not-found:sep-2164-data-uri',
    ],
    'The content of results is text: outputs of workflows are JSON': [...OTHER_CONTENT],
    'Only tasks ask for input: a call that is repeated with an answer would start another workflow': [
      'input-required-result-basic-elicitation:sep-2322-elicitation-incomplete',
      'input-required-result-basic-list-roots:sep-2322-list-roots-incomplete',
      'input-required-result-basic-sampling:sep-2322-sampling-incomplete',
      'input-required-result-capability-check:sep-2322-respect-client-capabilities',
      'input-required-result-ignore-extra-params:sep-2322-ignore-unexpected-params',
      'input-required-result-missing-input-response:sep-2322-missing-response-rerequests',
      'input-required-result-multi-round:sep-2322-multi-round-r1',
      'input-required-result-multiple-input-requests:sep-2322-multiple-inputs-incomplete',
      'input-required-result-request-state:sep-2322-request-state-incomplete',
      'input-required-result-result-type:sep-2322-result-type-included',
      'input-required-result-tampered-state:sep-2322-reject-tampered-state',
      'tasks-mrtr-composition:sep-2663-mrtr-synchronous-before-task-creation',
    ],
    'No tool needs a capability of the client: without tasks a call waits': [
      'server-stateless:sep-2575-server-rejects-undeclared-capability',
      'server-stateless:sep-2575-missing-capability-http-400',
      'tasks-required-task-error:sep-2663-server-returns-missing-capability-when-required',
    ],
    'No tool changes the list of tools: workers do': [
      'server-stateless:sep-2575-server-sends-tools-list-changed-on-subscription',
    ],
    'No tool has x-mcp-header: catalogs do not publish it': [
      'http-custom-header-server-validation:sep-2243-server-no-xmcp-tool',
      'http-custom-header-server-validation:sep-2243-server-decode-base64',
      'http-custom-header-server-validation:sep-2243-server-validate-param-match',
      'http-custom-header-server-validation:sep-2243-server-reject-invalid-param-chars',
      'http-custom-header-server-validation:sep-2243-server-reject-param-mismatch',
    ],
    'Hosts reject the keywords at the root that the scenario requires, so there is no such tool': [
      'json-schema-2020-12:json-schema-2020-12-tool-found',
    ],
    'The suite reads for ten seconds, and progress is sent every ten: it passes in the scenarios of 2025-11-25': [
      'tools-call-with-progress:tools-call-with-progress',
    ],
  },
  '2025-11-25': {
    'There are no prompts: hosts show them to people, not to the model': [...PROMPTS],
    'There are no resources: workflow_explain and the ids in results suffice': [
      ...RESOURCES,
      'resources-subscribe:resources-subscribe',
      'resources-unsubscribe:resources-unsubscribe',
    ],
    'The content of results is text: outputs of workflows are JSON': [...OTHER_CONTENT],
    'The server sends no requests to clients': [
      'tools-call-elicitation:tools-call-elicitation',
      'tools-call-sampling:tools-call-sampling',
      'elicitation-sep1034-defaults:elicitation-sep1034-general',
      'elicitation-sep1330-enums:elicitation-sep1330-general',
    ],
    'The server sends no log messages': [
      'logging-set-level:logging-set-level',
      'tools-call-with-logging:tools-call-with-logging',
    ],
    'There are no sessions: every replica answers every request': [
      'server-sse-multiple-streams:server-sse-multiple-streams-session',
      'server-sse-polling:server-sse-polling-session',
    ],
    'Hosts reject the keywords at the root that the scenario requires, so there is no such tool': [
      'json-schema-2020-12:json-schema-2020-12-tool-found',
    ],
  },
}
