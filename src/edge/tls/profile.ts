import { constants } from 'node:crypto'
import type { SecureContextOptions } from 'node:tls'

/** Mozilla's intermediate profile: TLS 1.3, and 1.2 with forward secrecy and authenticated encryption alone. */
export const profile: SecureContextOptions = {
  // none of them is known to 1.1 and before
  ciphers: [
    'TLS_AES_128_GCM_SHA256',
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
  ecdhCurve: 'X25519MLKEM768:X25519:prime256v1:secp384r1',
  // the quickest first; phones without AES in their processors put ChaCha20 before it, and get it
  honorCipherOrder: true,
  secureOptions:
    constants.SSL_OP_NO_RENEGOTIATION |
    constants.SSL_OP_NO_COMPRESSION |
    constants.SSL_OP_CIPHER_SERVER_PREFERENCE |
    constants.SSL_OP_PRIORITIZE_CHACHA,
  // the same in all edge processes: a session of one goes on in another
  sessionIdContext: 'stead-edge',
}
