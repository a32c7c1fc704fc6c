# answer half
