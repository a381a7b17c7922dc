# Authentication of LiteLLM by the keys that the example provisioner made: a file for each, named by the digest of the key. LiteLLM
# keeps its own keys in PostgreSQL, which this test does not need. The refusal is the one of its own keys.
import hashlib
import os

from litellm.proxy._types import ProxyException, UserAPIKeyAuth


async def check(request, api_key: str) -> UserAPIKeyAuth:
    digest = hashlib.sha256(api_key.encode()).hexdigest()
    if os.path.exists(os.path.join(os.environ["PROVISIONER_DIRECTORY"], "keys", digest)):
        return UserAPIKeyAuth(api_key=api_key)
    raise ProxyException(
        message="Authentication Error, Invalid proxy server token passed.",
        type="token_not_found_in_db",
        param="key",
        code=401,
    )
