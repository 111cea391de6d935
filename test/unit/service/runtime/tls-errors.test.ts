import { expect, test } from 'vitest'
import { tlsFailureReason } from '../../../../src/service/runtime/engine-advice.ts'

const CONNECTION = 'No connection established. Last error: '
const OPENSSL = '../deps/openssl/openssl/ssl/record/rec_layer_s3.c:918:SSL alert number 116\n'

test('tlsFailureReason: takes the reason from the messages of each runtime, without files and addresses', () => {
  const said = [
    `${CONNECTION}Error: certificate has expired. Resolution note: `,
    `${CONNECTION}Error: unable to verify the first certificate; if the root CA is installed locally, try --use-system-ca. Resolution note: `,
    `${CONNECTION}Error [ERR_TLS_CERT_ALTNAME_INVALID]: Hostname/IP does not match certificate's altnames: Host: engine.internal. is not in`,
    `${CONNECTION}401D44B74B7F0000:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:${OPENSSL}`,
    `${CONNECTION}Error: 40AD:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:${OPENSSL}`,
    `${CONNECTION}Error: Client network socket disconnected before secure TLS connection was established. Resolution note: `,
    // Bun
    `${CONNECTION}error:1000045c:SSL routines:OPENSSL_internal:TLSV1_ALERT_CERTIFICATE_REQUIRED (2026-11-21T15:32:54.560Z). Resolution note: `,
    `${CONNECTION}Error: error:100000f7:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER. Resolution note: `,
    // Deno
    `${CONNECTION}Error: received corrupt message of type InvalidContentType (SSL routines:ssl3_get_record:wrong version number). Resolution note: `,
    `${CONNECTION}TypeError [ERR_INVALID_ARG_VALUE]: The property 'options.servername' must not be an IP address. Received '10.0.0.7'.`,
  ]

  expect(said.map((message) => tlsFailureReason(new Error('above', { cause: new Error(message) })))).toEqual([
    'certificate has expired',
    'unable to verify the first certificate',
    "Hostname/IP does not match certificate's altnames",
    'tlsv13 alert certificate required',
    'wrong version number',
    'Client network socket disconnected before secure TLS connection was established',
    'TLSV1_ALERT_CERTIFICATE_REQUIRED',
    'WRONG_VERSION_NUMBER',
    'wrong version number',
    'the server name must not be an IP address',
  ])
})

test('tlsFailureReason: is null for any other connection error', () => {
  const said = [
    `${CONNECTION}Error: connect ECONNREFUSED 127.0.0.1:7233. Resolution note: `,
    'Name resolution failed for target dns:certificate.internal:7233',
  ]

  expect(said.map((message) => tlsFailureReason(new Error(message)))).toEqual([null, null])
  expect(tlsFailureReason('certificate')).toBeNull()
})
